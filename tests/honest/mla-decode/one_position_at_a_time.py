from dataclasses import dataclass

import torch


@dataclass
class Running:
    top: torch.Tensor  # (H,)
    total: torch.Tensor  # (H,)
    mix: torch.Tensor  # (H, R)

    def see(self, score, c):
        new_top = torch.maximum(self.top, score)
        old, new = (self.top - new_top).exp(), (score - new_top).exp()
        self.total = self.total * old + new
        self.mix = self.mix * old[:, None] + new[:, None] * c
        self.top = new_top


def latent_decode(q, latent, w_uk, w_uv):
    B, H, _, D = q.shape
    R = latent.shape[-1]
    f = torch.float32 if q.dtype is torch.bfloat16 else q.dtype
    outs = []
    for b in range(B):
        # what each head is looking for, said in the language of the latent
        wanted = torch.stack([w_uk[h * D : (h + 1) * D].to(f).T @ q[b, h, 0].to(f) for h in range(H)])
        wanted = wanted * (1.0 / D) ** 0.5
        c0 = latent[b, 0].to(f)
        state = Running(wanted @ c0, torch.ones(H, dtype=f, device=q.device), c0.expand(H, R))
        for c in latent[b, 1:].to(f):
            state.see(wanted @ c, c)
        c = state.mix / state.total[:, None]
        outs.append((w_uv.to(f).view(H, -1, R) * c[:, None, :]).sum(-1))
    return torch.stack(outs)[:, :, None, :].to(q.dtype)
