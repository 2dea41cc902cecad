import torch
from torch import nn


class AbsorbedDecoder(nn.Module):
    def __init__(self, w_uk, w_uv, n_heads):
        super().__init__()
        rank = w_uk.shape[1]
        self.k_up = w_uk.reshape(n_heads, -1, rank)
        self.v_up = w_uv.reshape(n_heads, -1, rank)
        self.scale = self.v_up.shape[1] ** -0.5

    def forward(self, q, latent):
        q = torch.einsum("bhtd,hdr->bhtr", q * self.scale, self.k_up)
        logits = q @ latent[:, None].mT
        attn = nn.functional.softmax(logits, dim=-1)
        return (attn @ latent[:, None]) @ self.v_up.mT


def latent_decode(q, latent, w_uk, w_uv):
    return AbsorbedDecoder(w_uk, w_uv, q.shape[1])(q, latent)
