"""Other ways to write `cached-attention`, `cached-gqa`, `cached-generate` and `paged-decode`, each
with the signature of its reference."""

from __future__ import annotations

from functools import partial

import torch
from torch import Tensor

from reference.baselines import core
from reference.baselines.rope import Rotate, rope_complex, rope_matrix, rope_rotate_half


def _owners(n_heads: int, n_kv_heads: int) -> list[int]:
    return [h * n_kv_heads // n_heads for h in range(n_heads)]


def _unturned(x: Tensor, positions: Tensor, base: float) -> Tensor:
    """In place of a rotation, where positions are not encoded."""
    return x


def _wide_tiles(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None) -> Tensor:
    """Wider blocks for a long cache: 16 of them at most."""
    return core.tiled(q, k, v, mask, block=max(3, k.shape[2] // 16))


def _cached(
    rotate: Rotate,
    attend: core.Attend,
    x: Tensor,
    w_q: Tensor,
    w_k: Tensor,
    w_v: Tensor,
    w_o: Tensor,
    n_heads: int,
    n_kv_heads: int,
    k_cache: Tensor,
    v_cache: Tensor,
    base: float = 10000.0,
) -> tuple[Tensor, Tensor, Tensor]:
    past, total = k_cache.shape[2], k_cache.shape[2] + x.shape[1]
    positions = torch.arange(total, device=x.device)[past:]  # (T,)
    q, k, v = (
        torch.stack([x @ part.T for part in w.chunk(n)], dim=1)  # (B, n, T, D)
        for w, n in ((w_q, n_heads), (w_k, n_kv_heads), (w_v, n_kv_heads))
    )
    k = torch.cat((k_cache, rotate(k, positions, base)), dim=-2)  # (B, H_kv, S+T, D)
    v = torch.cat((v_cache, v), dim=-2)  # (B, H_kv, S+T, D)
    allow = torch.ones(total, total, dtype=torch.bool, device=x.device).tril()[past:]  # (T, S+T)
    owner = _owners(n_heads, n_kv_heads)
    mixed = attend(rotate(q, positions, base), k[:, owner], v[:, owner], allow)  # (B, H, T, D)
    out = torch.einsum("bhte,dhe->btd", mixed, w_o.view(w_o.shape[0], n_heads, -1))  # (B, T, d)
    return out, k, v


cached_attention_einsum = partial(_cached, rope_complex, core.einsum)
cached_attention_per_head = partial(_cached, rope_rotate_half, core.per_head)
cached_attention_tiled = partial(_cached, rope_matrix, _wide_tiles)


def _one_by_one(
    rotate: Rotate,
    x: Tensor,
    w_q: Tensor,
    w_k: Tensor,
    w_v: Tensor,
    w_o: Tensor,
    n_heads: int,
    n_kv_heads: int,
    k_cache: Tensor,
    v_cache: Tensor,
    base: float = 10000.0,
) -> tuple[Tensor, Tensor, Tensor]:
    """No mask: a token at a time, written to its slot of a buffer; nothing is copied for heads."""
    batch, new, _ = x.shape
    past, width = k_cache.shape[2:]
    k, v = x.new_zeros((2, batch, n_kv_heads, past + new, width))  # (B, H_kv, S+T, D)
    k[:, :, :past], v[:, :, :past] = k_cache, v_cache
    outs = []
    for n in range(new):
        place = torch.tensor([past + n], device=x.device)
        q, k_new, v_new = (x[:, n] @ w.T for w in (w_q, w_k, w_v))  # (B, n * D)
        grouped = q.view(batch, n_kv_heads, -1, width)  # (B, H_kv, G, D)
        rows = rotate(grouped.unsqueeze(-2).flatten(1, 2), place, base)  # (B, H, 1, D)
        turned = rotate(k_new.view(batch, n_kv_heads, 1, width), place, base)
        k[:, :, past + n] = turned[:, :, 0]
        v[:, :, past + n] = v_new.view(batch, n_kv_heads, width)
        keys, values = k[:, :, : past + n + 1], v[:, :, : past + n + 1]
        scores = rows.view(grouped.shape) @ keys.mT * width**-0.5  # (B, H_kv, G, S+n+1)
        mixed = torch.softmax(scores, dim=-1) @ values  # (B, H_kv, G, D)
        outs.append(mixed.reshape(batch, -1) @ w_o.T)  # (B, d)
    return torch.stack(outs, dim=1), k, v


cached_attention_one_by_one = partial(_one_by_one, rope_rotate_half)

cached_gqa_einsum = partial(_cached, _unturned, core.einsum)
cached_gqa_per_head = partial(_cached, _unturned, core.per_head)
cached_gqa_tiled = partial(_cached, _unturned, _wide_tiles)
cached_gqa_finite_fill = partial(_cached, _unturned, core.finite_fill)
cached_gqa_one_by_one = partial(_one_by_one, _unturned)


def _pages(pages: Tensor, row: Tensor, length: int) -> Tensor:
    """The tokens of one sequence, (length, H_kv, D)."""
    used = -(-length // pages.shape[1])
    return torch.cat([pages[p] for p in row[:used].tolist()])[:length]


def paged_decode_per_sequence(
    q: Tensor, k_pages: Tensor, v_pages: Tensor, block_table: Tensor, lengths: Tensor
) -> Tensor:
    """A sequence at a time, its pages joined and cut: no mask."""
    owner = _owners(q.shape[1], k_pages.shape[2])
    outs = []
    for b, length in enumerate(lengths.tolist()):
        k, v = (_pages(pages, block_table[b], length)[:, owner] for pages in (k_pages, v_pages))
        scores = (k * q[b, :, 0]).sum(dim=-1) * q.shape[-1] ** -0.5  # (S, H)
        weights = torch.softmax(scores, dim=0)  # (S, H)
        outs.append(torch.einsum("sh,shd->hd", weights, v))  # (H, D)
    return torch.stack(outs)[:, :, None]  # (B, H, 1, D)


def paged_decode_online(
    q: Tensor, k_pages: Tensor, v_pages: Tensor, block_table: Tensor, lengths: Tensor
) -> Tensor:
    """Page by page, with a running maximum and normaliser; nothing is gathered."""
    batch, width = q.shape[0], q.shape[-1]
    page, n_kv_heads = k_pages.shape[1:3]
    rows = q.reshape(batch, n_kv_heads, -1, width) * width**-0.5  # (B, H_kv, G, D)
    m = torch.full_like(rows[..., 0], -torch.inf)  # (B, H_kv, G)
    total = torch.zeros_like(m)
    out = torch.zeros_like(rows)
    for j in range(block_table.shape[1]):
        physical = block_table[:, j].clamp(min=0)  # (B,)
        k, v = k_pages[physical], v_pages[physical]  # (B, page, H_kv, D)
        slot = j * page + torch.arange(page, device=q.device)  # (page,)
        hidden = (slot >= lengths[:, None])[:, None, None]  # (B, 1, 1, page)
        scores = torch.einsum("bkgd,bpkd->bkgp", rows, k).masked_fill(hidden, -torch.inf)
        highest = torch.maximum(m, scores.amax(dim=-1))  # the first page always holds a token
        keep, raised = torch.exp(m - highest), torch.exp(scores - highest[..., None])
        total = total * keep + raised.sum(dim=-1)
        out = out * keep[..., None] + torch.einsum("bkgp,bpkd->bkgd", raised, v)
        m = highest
    return (out / total[..., None]).reshape(q.shape)  # (B, H, 1, D)


def paged_decode_flat_slots(
    q: Tensor, k_pages: Tensor, v_pages: Tensor, block_table: Tensor, lengths: Tensor
) -> Tensor:
    """Each token's slot in the flattened pool, for all tokens of the longest sequence."""
    page = k_pages.shape[1]
    token = torch.arange(int(lengths.max()), device=q.device)  # (S,)
    slots = block_table[:, token // page] * page + token % page  # (B, S)
    is_token = token < lengths[:, None]  # (B, S)
    slots = slots.masked_fill(~is_token, 0)
    owner = _owners(q.shape[1], k_pages.shape[2])
    k, v = (
        pages.flatten(0, 1)[slots].permute(0, 2, 1, 3)[:, owner]  # (B, H, S, D)
        for pages in (k_pages, v_pages)
    )
    return core.finite_fill(q, k, v, is_token[:, None, None, :])  # (B, H, 1, D)


def paged_decode_whole_pool(
    q: Tensor, k_pages: Tensor, v_pages: Tensor, block_table: Tensor, lengths: Tensor
) -> Tensor:
    """Scores against every slot of the pool; a slot that several sequences use counts for each."""
    count, page = k_pages.shape[:2]
    owned = torch.zeros(len(q), count * page, dtype=torch.bool, device=q.device)
    for b, length in enumerate(lengths.tolist()):
        for t in range(length):
            owned[b, block_table[b, t // page] * page + t % page] = True
    owner = _owners(q.shape[1], k_pages.shape[2])
    k, v = (
        pages.reshape(1, count * page, *pages.shape[2:])
        .transpose(1, 2)[:, owner]
        .expand(len(q), -1, -1, -1)  # (B, H, P * page, D)
        for pages in (k_pages, v_pages)
    )
    return core.einsum(q, k, v, owned[:, None, None, :])  # (B, H, 1, D)


def _turn(width: int, span: int, like: Tensor) -> tuple[Tensor, Tensor]:
    """cos and sin (S, D) of the rotation for positions 0 to S - 1, the table written twice over."""
    pair = torch.arange(width // 2, device=like.device, dtype=torch.float32)  # (D/2,)
    index = torch.arange(span, device=like.device, dtype=torch.float32)  # (S,)
    angles = torch.outer(index, 10000.0 ** (-2.0 * pair / width)).repeat(1, 2)  # (S, D)
    return angles.cos().to(like.dtype), angles.sin().to(like.dtype)


def _swapped(x: Tensor) -> Tensor:
    """(-b, a) for the halves (a, b) of the last dimension."""
    a, b = x.chunk(2, dim=-1)
    return torch.cat([-b, a], dim=-1)


def cached_generate_full_pass(
    prompt: Tensor,
    n_new: int,
    embed: Tensor,
    w_q: Tensor,
    w_k: Tensor,
    w_v: Tensor,
    w_o: Tensor,
    n_heads: int,
    n_kv_heads: int,
) -> Tensor:
    """No cache: keys and values of the whole text anew at each step; heads by einsum."""
    width, d_model = w_q.shape[0] // n_heads, embed.shape[1]
    cos, sin = _turn(width, len(prompt) + n_new, embed)  # (S, D)
    by_head = [
        w.view(n_kv_heads, -1, width, d_model) for w in (w_q, w_k, w_v)
    ]  # (H_kv, G, D, d), G = 1 for keys and values
    out = w_o.view(d_model, n_kv_heads, -1, width)  # (d, H_kv, G, D)
    text = prompt
    for _ in range(n_new):
        x = embed[text]  # (n, d)
        q = torch.einsum("d,kged->kge", x[-1], by_head[0])  # (H_kv, G, D)
        k, v = (torch.einsum("nd,ked->kne", x, w[:, 0]) for w in by_head[1:])  # (H_kv, n, D)
        q = q * cos[len(text) - 1] + _swapped(q) * sin[len(text) - 1]
        k = k * cos[: len(text)] + _swapped(k) * sin[: len(text)]
        scores = torch.einsum("kge,kne->kgn", q * width**-0.5, k)  # (H_kv, G, n)
        raised = torch.exp(scores - scores.amax(dim=-1, keepdim=True))
        mixed = torch.einsum("kgn,kne->kge", raised, v) / raised.sum(dim=-1, keepdim=True)
        stream = x[-1] + torch.einsum("kge,dkge->d", mixed, out)  # (d,)
        text = torch.cat([text, torch.einsum("d,vd->v", stream, embed).argmax()[None]])
    return text[len(prompt) :]  # (n_new,)


def cached_generate_token_by_token(
    prompt: Tensor,
    n_new: int,
    embed: Tensor,
    w_q: Tensor,
    w_k: Tensor,
    w_v: Tensor,
    w_o: Tensor,
    n_heads: int,
    n_kv_heads: int,
) -> Tensor:
    """The prompt too passes a token at a time; the caches are buffers, one projection for all."""
    text = prompt.tolist()
    width = w_q.shape[0] // n_heads
    w_all = torch.cat([w_q, w_k, w_v])  # ((H + 2 H_kv) * D, d)
    cos, sin = _turn(width, len(text) + n_new, embed)  # (S, D)
    k, v = embed.new_zeros((2, n_kv_heads, len(text) + n_new, width))  # (H_kv, S, D)
    for n in range(len(text) + n_new - 1):
        x = embed[text[n]]  # (d,)
        heads = torch.mv(w_all, x).view(-1, width)  # (H + 2 H_kv, D)
        turned = heads * cos[n] + _swapped(heads) * sin[n]
        k[:, n] = turned[n_heads : n_heads + n_kv_heads]
        v[:, n] = heads[n_heads + n_kv_heads :]
        if n + 1 < len(text):
            continue
        rows = turned[:n_heads].view(n_kv_heads, -1, width)  # (H_kv, G, D)
        weights = torch.softmax(rows @ k[:, : n + 1].mT / width**0.5, dim=-1)  # (H_kv, G, n+1)
        mixed = (weights @ v[:, : n + 1]).flatten()  # (H * D,)
        text.append(int(torch.argmax(torch.mv(embed, x + torch.mv(w_o, mixed)))))
    return torch.tensor(text[len(prompt) :], device=prompt.device)  # (n_new,)


def cached_generate_unrotated_cache(
    prompt: Tensor,
    n_new: int,
    embed: Tensor,
    w_q: Tensor,
    w_k: Tensor,
    w_v: Tensor,
    w_o: Tensor,
    n_heads: int,
    n_kv_heads: int,
) -> Tensor:
    """Keys of the whole vocabulary at once, kept unrotated; at each read they are turned back by
    their distance to the query, which is not turned at all."""
    width = w_q.shape[0] // n_heads
    owner = _owners(n_heads, n_kv_heads)
    cos, sin = _turn(width, len(prompt) + n_new, embed)  # (S, D)
    q_of = (embed @ w_q.T).view(len(embed), n_heads, width)  # (V, H, D)
    k_of = (embed @ w_k.T).view(len(embed), n_kv_heads, width)[:, owner]  # (V, H, D)
    v_of = (embed @ w_v.T).view(len(embed), n_kv_heads, width)[:, owner]  # (V, H, D)
    swapped = _swapped(k_of)  # (V, H, D)
    text = prompt
    for _ in range(n_new):
        back = torch.arange(len(text) - 1, -1, -1, device=prompt.device)  # (S,)
        keys = k_of[text] * cos[back, None] - swapped[text] * sin[back, None]  # (S, H, D)
        scores = (keys * q_of[text[-1]]).sum(dim=-1) / width**0.5  # (S, H)
        weights = torch.exp(scores - torch.logsumexp(scores, dim=0))  # (S, H)
        mixed = (weights[:, :, None] * v_of[text]).sum(dim=0)  # (H, D)
        out = embed[text[-1]] + torch.nn.functional.linear(mixed.flatten(), w_o)  # (d,)
        text = torch.cat([text, (embed * out).sum(dim=-1).argmax(dim=0, keepdim=True)])
    return text[len(prompt) :]  # (n_new,)
