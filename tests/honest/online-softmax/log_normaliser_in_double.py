import torch


def online_softmax(x, block_size):
    """Carries log l, not l."""
    y = x.double()
    m, log_l = None, None
    for block in torch.split(y, block_size, -1):
        top = block.amax(-1, keepdim=True)
        own = torch.log((block - top).exp().sum(-1, keepdim=True))
        if m is None:
            m, log_l = top, own
        else:
            new = torch.maximum(m, top)
            log_l = torch.logaddexp(log_l + (m - new), own + (top - new))
            m = new
    return [m.squeeze(-1).to(x.dtype), log_l.exp().squeeze(-1).to(x.dtype)]
