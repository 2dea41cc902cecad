"""Other ways to write `debug-mla`, each with the signature of its reference."""

from __future__ import annotations

from functools import partial

import torch
from torch import Tensor

from reference.baselines import core
from reference.baselines.rope import Rotate, rope_complex, rope_matrix, rope_rotate_half


def _causal(length: int, device: torch.device) -> Tensor:
    return torch.ones(length, length, dtype=torch.bool, device=device).tril()  # (T, T)


def _layer(
    rotate: Rotate,
    attend: core.Attend,
    x: Tensor,
    w_q: Tensor,
    w_dkv: Tensor,
    w_uk: Tensor,
    w_uv: Tensor,
    w_o: Tensor,
    n_heads: int,
    positions: Tensor,
    base: float = 10000.0,
) -> tuple[Tensor, Tensor]:
    """Heads and parts by slices of the weights; the output projection is a sum over heads."""
    width, latent_width = w_uk.shape[0] // n_heads, w_uk.shape[1]
    latent = x @ w_dkv[:latent_width].T  # (B, T, R)
    shared = rotate((x @ w_dkv[latent_width:].T)[:, None], positions, base)  # (B, 1, T, D_r)
    queries, keys = [], []
    for rows, up in zip(w_q.chunk(n_heads), w_uk.chunk(n_heads), strict=True):
        turned = rotate((x @ rows[width:].T)[:, None], positions, base)[:, 0]  # (B, T, D_r)
        queries.append(torch.cat([turned, x @ rows[:width].T], dim=-1))
        keys.append(torch.cat([shared[:, 0], latent @ up.T], dim=-1))  # (B, T, D_r + D)
    q, k = torch.stack(queries, dim=1), torch.stack(keys, dim=1)  # (B, H, T, D_r + D)
    v = torch.stack([latent @ up.T for up in w_uv.chunk(n_heads)], dim=1)  # (B, H, T, D_v)
    mixed = attend(q, k, v, _causal(x.shape[1], x.device))  # (B, H, T, D_v)
    out = torch.einsum("bhtv,dhv->btd", mixed, w_o.view(w_o.shape[0], n_heads, -1))
    return out, torch.cat([latent, shared[:, 0]], dim=-1)


debug_mla_einsum = partial(_layer, rope_complex, core.einsum)
debug_mla_per_head = partial(_layer, rope_rotate_half, core.per_head)
debug_mla_tiled = partial(_layer, rope_matrix, core.tiled)


def debug_mla_absorbed(
    x: Tensor,
    w_q: Tensor,
    w_dkv: Tensor,
    w_uk: Tensor,
    w_uv: Tensor,
    w_o: Tensor,
    n_heads: int,
    positions: Tensor,
    base: float = 10000.0,
) -> tuple[Tensor, Tensor]:
    """Two scores added: of the contents, in the latent's width, and of the rotated parts."""
    batch, length, _ = x.shape
    width, latent_width = w_uk.shape[0] // n_heads, w_uk.shape[1]
    q = (x @ w_q.T).view(batch, length, n_heads, -1).transpose(1, 2)  # (B, H, T, D + D_r)
    down = x @ w_dkv.T  # (B, T, R + D_r)
    latent = down[..., :latent_width]  # (B, T, R)
    shared = rope_rotate_half(down[:, None, :, latent_width:], positions, base)  # (B, 1, T, D_r)
    low = q[..., :width] @ w_uk.view(n_heads, width, -1)  # (B, H, T, R)
    turned = rope_rotate_half(q[..., width:], positions, base)  # (B, H, T, D_r)
    scores = low @ latent[:, None].mT + turned @ shared.mT  # (B, H, T, T)
    scores = (scores * q.shape[-1] ** -0.5).masked_fill(~_causal(length, x.device), -torch.inf)
    mixed = torch.softmax(scores, dim=-1) @ latent[:, None]  # (B, H, T, R)
    lifted = mixed @ w_uv.view(n_heads, -1, latent_width).mT  # (B, H, T, D_v)
    out = lifted.transpose(1, 2).reshape(batch, length, -1) @ w_o.T  # (B, T, d)
    return out, torch.cat([latent, shared[:, 0]], dim=-1)
