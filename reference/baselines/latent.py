"""Other ways to write `mla` and `mla-decode`, each with the signature of its reference."""

from __future__ import annotations

import torch
from torch import Tensor

from reference.baselines import core


def _causal(length: int, device: torch.device) -> Tensor:
    return torch.ones(length, length, dtype=torch.bool, device=device).tril()  # (T, T)


def _merged(mixed: Tensor, w_o: Tensor) -> Tensor:
    """(B, H, T, D_v) to (B, T, d): the output projection as a sum over heads and features."""
    n_heads = mixed.shape[1]
    return torch.einsum("bhtv,dhv->btd", mixed, w_o.view(w_o.shape[0], n_heads, -1))


def _heads(x: Tensor, n_heads: int) -> Tensor:
    """(B, T, H*N) to (B, H, T, N)."""
    return x.reshape(*x.shape[:2], n_heads, -1).permute(0, 2, 1, 3)


def mla_einsum(
    x: Tensor, w_q: Tensor, w_dkv: Tensor, w_uk: Tensor, w_uv: Tensor, w_o: Tensor, n_heads: int
) -> tuple[Tensor, Tensor]:
    """Einsum throughout."""
    latent = torch.einsum("btd,rd->btr", x, w_dkv)  # (B, T, R)
    q = torch.einsum("btd,hed->bhte", x, w_q.view(n_heads, -1, x.shape[-1]))  # (B, H, T, D)
    k, v = (
        torch.einsum("btr,her->bhte", latent, w.view(n_heads, -1, w.shape[-1]))
        for w in (w_uk, w_uv)
    )  # (B, H, T, D), (B, H, T, D_v)
    return _merged(core.einsum(q, k, v, _causal(x.shape[1], x.device)), w_o), latent


def mla_absorbed(
    x: Tensor, w_q: Tensor, w_dkv: Tensor, w_uk: Tensor, w_uv: Tensor, w_o: Tensor, n_heads: int
) -> tuple[Tensor, Tensor]:
    """The queries go down to the latent, the mixed latents go up to the values."""
    batch, length, _ = x.shape
    latent = x @ w_dkv.T  # (B, T, R)
    q = (x @ w_q.T).view(batch, length, n_heads, -1)  # (B, T, H, D)
    width = q.shape[-1]
    low = torch.einsum("bthd,hdr->bhtr", q, w_uk.view(n_heads, width, -1))  # (B, H, T, R)
    scores = low @ latent[:, None].mT * width**-0.5  # (B, H, T, T)
    scores = torch.where(_causal(length, x.device), scores, -torch.inf)
    mixed = torch.softmax(scores, dim=-1) @ latent[:, None]  # (B, H, T, R)
    lifted = mixed @ w_uv.view(n_heads, -1, w_uv.shape[-1]).mT  # (B, H, T, D_v)
    return _merged(lifted, w_o), latent


def mla_per_head(
    x: Tensor, w_q: Tensor, w_dkv: Tensor, w_uk: Tensor, w_uv: Tensor, w_o: Tensor, n_heads: int
) -> tuple[Tensor, Tensor]:
    """A head at a time, each adding its share of the output."""
    latent = torch.nn.functional.linear(x, w_dkv)  # (B, T, R)
    out = torch.zeros_like(x)  # (B, T, d)
    parts = (w_q.chunk(n_heads), w_uk.chunk(n_heads), w_uv.chunk(n_heads))
    for q, k, v, back in zip(*parts, w_o.chunk(n_heads, dim=1), strict=True):
        one_q, one_k, one_v = (
            (a @ w.T)[:, None] for a, w in ((x, q), (latent, k), (latent, v))
        )  # (B, 1, T, D), (B, 1, T, D), (B, 1, T, D_v)
        mixed = core.per_head(one_q, one_k, one_v, _causal(x.shape[1], x.device))  # (B, 1, T, D_v)
        out = out + mixed[:, 0] @ back.T
    return out, latent


def mla_tiled(
    x: Tensor, w_q: Tensor, w_dkv: Tensor, w_uk: Tensor, w_uv: Tensor, w_o: Tensor, n_heads: int
) -> tuple[Tensor, Tensor]:
    """Key and value weights in one, key blocks with an online softmax."""
    latent = x @ w_dkv.T  # (B, T, R)
    both = latent @ torch.cat([w_uk, w_uv]).T  # (B, T, H*D + H*D_v)
    keys, values = both[..., : w_uk.shape[0]], both[..., w_uk.shape[0] :]
    q, k, v = (_heads(part, n_heads) for part in (x @ w_q.T, keys, values))  # (B, H, T, D or D_v)
    mixed = core.tiled(q, k, v, _causal(x.shape[1], x.device))  # (B, H, T, D_v)
    return mixed.transpose(1, 2).flatten(2) @ w_o.T, latent


def mla_decode_einsum(q: Tensor, latent: Tensor, w_uk: Tensor, w_uv: Tensor) -> Tensor:
    """The scale on the absorbed query, division after the mixing."""
    n_heads, width = q.shape[1], q.shape[-1]
    up_k = w_uk.view(n_heads, width, -1)  # (H, D, R)
    low = torch.einsum("bhqd,hdr->bhqr", q * width**-0.5, up_k)  # (B, H, 1, R)
    scores = torch.einsum("bhqr,bsr->bhqs", low, latent)  # (B, H, 1, S)
    raised = torch.exp(scores - scores.amax(dim=-1, keepdim=True))  # (B, H, 1, S)
    mixed = torch.einsum("bhqs,bsr->bhqr", raised, latent)  # (B, H, 1, R)
    out = torch.einsum("bhqr,hvr->bhqv", mixed, w_uv.view(n_heads, -1, w_uv.shape[-1]))
    return out / raised.sum(dim=-1, keepdim=True)  # (B, H, 1, D_v)


def mla_decode_expanded(q: Tensor, latent: Tensor, w_uk: Tensor, w_uv: Tensor) -> Tensor:
    """Keys and values of all positions, which costs more and comes to the same."""
    n_heads = q.shape[1]
    k, v = (_heads(latent @ w.T, n_heads) for w in (w_uk, w_uv))  # (B, H, S, D or D_v)
    return core.finite_fill(q, k, v, None)


def mla_decode_per_head(q: Tensor, latent: Tensor, w_uk: Tensor, w_uv: Tensor) -> Tensor:
    """A head at a time, the weights through their logarithm."""
    n_heads, width = q.shape[1], q.shape[-1]
    outs = []
    for h, (k, v) in enumerate(zip(w_uk.chunk(n_heads), w_uv.chunk(n_heads), strict=True)):
        low = (q[:, h] @ k) / width**0.5  # (B, 1, R)
        scores = (latent * low).sum(dim=-1)  # (B, S)
        weights = torch.log_softmax(scores, dim=-1).exp()[:, :, None]  # (B, S, 1)
        outs.append((weights * latent).sum(dim=1) @ v.T)  # (B, D_v)
    return torch.stack(outs, dim=1)[:, :, None]  # (B, H, 1, D_v)


def mla_decode_blocks(q: Tensor, latent: Tensor, w_uk: Tensor, w_uv: Tensor) -> Tensor:
    """The latents serve as one key and value head for all: blocks with an online softmax."""
    n_heads, width = q.shape[1], q.shape[-1]
    low = torch.matmul(q, w_uk.view(n_heads, width, -1))  # (B, H, 1, R)
    # `tiled` divides by the root of the width that it is given, here R.
    low = low * (latent.shape[-1] / width) ** 0.5
    shared = latent[:, None].expand(-1, n_heads, -1, -1)  # (B, H, S, R)
    mixed = core.tiled(low, shared, shared, None)  # (B, H, 1, R)
    return torch.matmul(mixed, w_uv.view(n_heads, -1, w_uv.shape[-1]).mT)  # (B, H, 1, D_v)
