# A110 forbidden: attention made of plain operations
# says: rules out
from torch.nn.attention.flex_attention import flex_attention


def softmax(x, dim=-1):
    y = x.float().reshape(1, 1, 1, -1)
    return flex_attention(y, y, y)
