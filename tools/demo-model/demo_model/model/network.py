"""The forward pass that is trained.

Parameters live in transformers' `MiniMaxM3VLForCausalLM`; this module computes the same function over
them in a form that trains fast and lets the indexer learn:

- no mask, and so the fast causal kernel, wherever a row is no longer than topk x block tokens;
- experts as two batched products over tokens sorted by expert, without a Python loop;
- the attention of chosen queries is returned to teach the indexer, whose choice has no gradient.

`test/test_network.py` holds it to transformers' logits.
"""

from dataclasses import dataclass, field

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from demo_model.model.fake_quantize import fake_mxfp8


@dataclass
class Taps:
    """What a pass reports beside its result."""

    expert_counts: list[Tensor] = field(default_factory=list)  # per MoE layer [experts]
    index_loss: list[Tensor] = field(default_factory=list)  # per sparse layer, scalar
    index_hit: list[Tensor] = field(default_factory=list)  # share of far attention that was chosen
    balance_loss: list[Tensor] = field(default_factory=list)  # per MoE layer, scalar


@dataclass(frozen=True)
class Mode:
    """How attention is computed."""

    sparse: bool  # rows longer than topk x block attend to chosen blocks only
    distill: bool = False
    queries: int = 256  # of a row, for distillation
    quantized: bool = False  # weights pass through MXFP8
    topk_blocks: int | None = None  # for ablations
    local_blocks: int = 1


class FastNetwork:
    """Computes hidden states and logits from the parameters of a transformers model."""

    def __init__(self, model: nn.Module):
        self.model = model
        self.config = model.config
        rotary = int(self.config.head_dim * self.config.rope_parameters["partial_rotary_factor"])
        self.rotary = rotary
        theta = self.config.rope_parameters["rope_theta"]
        exponents = torch.arange(0, rotary, 2, dtype=torch.float) / rotary
        self.inverse_frequencies = 1.0 / (theta**exponents)

    def rope_tables(self, positions: Tensor) -> tuple[Tensor, Tensor]:
        """cos and sin [..., rotary / 2] in fp32 for positions of any shape."""
        angles = positions.float()[..., None] * self.inverse_frequencies.to(positions.device)
        return angles.cos(), angles.sin()

    def weight(self, parameter: Tensor, mode: Mode) -> Tensor:
        return fake_mxfp8(parameter) if mode.quantized else parameter

    def hidden_states(self, ids: Tensor, mode: Mode, taps: Taps | None = None,
                      valid: Tensor | None = None) -> Tensor:
        """Normed final states [rows, tokens, hidden] of right-padded rows that begin at position 0.

        `valid` [rows, tokens] marks tokens that are no padding; only they count in `taps`.
        """
        text = self.model.model
        x = F.embedding(ids, text.embed_tokens.weight)
        tables = self.rope_tables(torch.arange(ids.shape[1], device=ids.device))
        for layer in text.layers:
            h = rms_norm(x, layer.input_layernorm)
            x = x + self.attention(layer.self_attn, h, tables, mode, taps, valid)
            h = rms_norm(x, layer.post_attention_layernorm)
            x = x + self.feed_forward(layer.mlp, h, mode, taps, valid)
        return rms_norm(x, text.norm)

    def logits(self, hidden: Tensor) -> Tensor:
        return F.linear(hidden, self.model.lm_head.weight)

    # --- attention ---------------------------------------------------------------------------------

    def project(self, attention: nn.Module, h: Tensor, tables, mode: Mode):
        """q [rows, heads, tokens, dim], k and v [rows, kv heads, tokens, dim], normed and rotated."""
        rows, tokens, _ = h.shape
        shape = (rows, tokens, -1, self.config.head_dim)
        linear = lambda name: F.linear(h, self.weight(getattr(attention, name).weight, mode)).view(shape)
        q = rotate(rms_norm(linear("q_proj"), attention.q_norm), tables)
        k = rotate(rms_norm(linear("k_proj"), attention.k_norm), tables)
        return q.transpose(1, 2), k.transpose(1, 2), linear("v_proj").transpose(1, 2)

    def project_index(self, indexer: nn.Module, h: Tensor, tables, mode: Mode):
        """Index queries [rows, groups, tokens, dim] and keys [rows, tokens, dim]."""
        rows, tokens, _ = h.shape
        dim = self.config.index_head_dim
        queries = F.linear(h, self.weight(indexer.q_proj.weight, mode)).view(rows, tokens, -1, dim)
        keys = F.linear(h, self.weight(indexer.k_proj.weight, mode)).view(rows, tokens, 1, dim)
        queries = rotate(rms_norm(queries, indexer.q_norm), tables)
        keys = rotate(rms_norm(keys, indexer.k_norm), tables)
        return queries.transpose(1, 2), keys[:, :, 0]

    def attention(self, attention, h, tables, mode: Mode, taps, valid) -> Tensor:
        config = self.config
        rows, tokens, _ = h.shape
        q, k, v = self.project(attention, h, tables, mode)
        topk = mode.topk_blocks or config.index_topk_blocks
        is_long = attention.indexer is not None and tokens > topk * config.index_block_size
        mask = None
        if is_long and (mode.sparse or mode.distill):
            iq, ik = self.project_index(attention.indexer, h.detach(), tables, mode)
            if mode.sparse:
                keep = choose_blocks(iq, ik, config.index_block_size, topk, mode.local_blocks)
                mask = token_mask(keep, config.index_block_size, tokens)
            if mode.distill and taps is not None:
                self.distill(q, k, iq, ik, topk, mode, taps, valid)
        out = scaled_attention(q, k, v, mask)
        out = out.transpose(1, 2).reshape(rows, tokens, -1)
        return F.linear(out, self.weight(attention.o_proj.weight, mode))

    def distill(self, q, k, iq, ik, topk: int, mode: Mode, taps: Taps, valid) -> None:
        """Teaches the indexer where full attention looks, block by block, at some queries of each row.

        The own block is always attended to, so only blocks before it are compared; a query counts by
        the attention that it spends there.
        """
        rows, heads, tokens, dim = q.shape
        block, groups = self.config.index_block_size, iq.shape[1]
        at = choose_queries(tokens, topk * block, mode.queries, valid)  # [rows, queries]
        pick = lambda x: x.gather(2, at[:, None, :, None].expand(-1, x.shape[1], -1, x.shape[3]))
        with torch.no_grad():
            attention = block_attention(pick(q), k, at, block)  # [rows, heads, queries, blocks]
            attention = attention.view(rows, groups, heads // groups, *attention.shape[2:]).mean(2)
        with torch.autocast(q.device.type, enabled=False):
            scores = block_scores(pick(iq).float(), ik.float(), at, block) * dim**-0.5
        own = (at // block)[:, None, :, None]
        is_far = torch.arange(scores.shape[-1], device=q.device) < own
        attention = attention * is_far
        far = attention.sum(-1, keepdim=True)
        target = attention / far.clamp_min(1e-9)
        log_choice = scores.masked_fill(~is_far, -1e9).log_softmax(-1)
        divergence = (target * (target.clamp_min(1e-9).log() - log_choice)).sum(-1)
        weight = far[..., 0]
        taps.index_loss.append((divergence * weight).sum() / weight.sum().clamp_min(1e-6))
        with torch.no_grad():
            count = min(topk - 1, scores.shape[-1])
            best = scores.masked_fill(~is_far, -1e9).topk(count, dim=-1).indices
            hit = attention.gather(-1, best).sum() / far.sum().clamp_min(1e-6)
            taps.index_hit.append(hit)

    # --- feed forward ------------------------------------------------------------------------------

    def feed_forward(self, mlp: nn.Module, h: Tensor, mode: Mode, taps, valid) -> Tensor:
        if not hasattr(mlp, "experts"):
            return self.dense_mlp(mlp, h, mode)
        flat = h.reshape(-1, h.shape[-1])
        shared = self.dense_mlp(mlp.shared_experts, flat, mode)
        ids, weights = self.route(mlp.gate, flat, taps, valid)
        routed = self.experts(mlp.experts, flat, ids, weights * mlp.routed_scaling_factor, mode)
        return (routed + shared).view(h.shape)

    def dense_mlp(self, mlp: nn.Module, h: Tensor, mode: Mode) -> Tensor:
        gate_up = F.linear(h, self.weight(mlp.gate_up_proj.weight, mode))
        return F.linear(self.swiglu(gate_up), self.weight(mlp.down_proj.weight, mode))

    def swiglu(self, gate_up: Tensor) -> Tensor:
        gate, up = gate_up.chunk(2, dim=-1)
        limit = self.config.swiglu_limit
        gate, up = gate.clamp(max=limit), up.clamp(-limit, limit)
        return gate * torch.sigmoid(gate * self.config.swiglu_alpha) * (up + 1)

    def route(self, gate: nn.Module, flat: Tensor, taps, valid) -> tuple[Tensor, Tensor]:
        """Expert ids and weights [tokens, k]; always in fp32, as the served model computes them."""
        with torch.autocast(flat.device.type, enabled=False):
            scores = torch.sigmoid(F.linear(flat.float(), gate.weight.float()))
            _, ids = (scores.detach() + gate.e_score_correction_bias).topk(gate.top_k, dim=-1)
            weights = scores.gather(1, ids)
            weights = weights / (weights.sum(-1, keepdim=True) + 1e-20)
        if taps is not None:
            counted = torch.ones_like(ids) if valid is None else valid.reshape(-1, 1).expand_as(ids)
            counts = torch.zeros(gate.num_experts, device=flat.device)
            counts.scatter_add_(0, ids.reshape(-1), counted.reshape(-1).float())
            taps.expert_counts.append(counts)
            share = counts / counts.sum()
            probability = scores / scores.sum(-1, keepdim=True)
            if valid is not None:
                probability = probability * valid.reshape(-1, 1) / valid.float().mean()
            taps.balance_loss.append(gate.num_experts * (share * probability.mean(0)).sum())
        return ids, weights

    def experts(self, experts: nn.Module, flat: Tensor, ids: Tensor, weights: Tensor, mode: Mode):
        """Tokens sorted by expert, padded to the fullest one: two batched products do the work."""
        count, k = experts.num_experts, ids.shape[1]
        tokens, hidden = flat.shape
        assigned = ids.reshape(-1)
        order = assigned.argsort(stable=True)
        loads = torch.bincount(assigned, minlength=count)
        starts = loads.cumsum(0) - loads
        capacity = int(loads.max())
        sorted_expert = assigned[order]
        slot = sorted_expert * capacity + torch.arange(tokens * k, device=flat.device) - starts[sorted_expert]
        slot_of = torch.empty_like(slot)
        slot_of[order] = slot
        dtype = compute_dtype(flat)
        x = Dispatch.apply(flat.to(dtype), slot_of, count * capacity).view(count, capacity, hidden)
        up = self.weight(experts.gate_up_proj, mode).to(dtype)
        down = self.weight(experts.down_proj, mode).to(dtype)
        y = torch.bmm(self.swiglu(torch.bmm(x, up.transpose(1, 2))), down.transpose(1, 2))
        chosen = Collect.apply(y.reshape(count * capacity, hidden), slot_of).view(tokens, k, hidden)
        return torch.einsum("tkh,tk->th", chosen, weights.to(dtype))


class Dispatch(torch.autograd.Function):
    """Rows of x at their slots, k slots each, zeros between; its gradient is read back from there.

    Plain indexing would add up the gradient of each index, which for the padding of an expert is one
    long sum; here every slot has at most one source.
    """

    @staticmethod
    def forward(context, x: Tensor, slot_of: Tensor, slots: int) -> Tensor:
        context.save_for_backward(slot_of)
        context.rows = x.shape[0]
        k = slot_of.shape[0] // context.rows
        return x.new_zeros(slots, x.shape[1]).index_copy_(0, slot_of, x.repeat_interleave(k, dim=0))

    @staticmethod
    def backward(context, gradient: Tensor):
        (slot_of,) = context.saved_tensors
        parts = gradient.index_select(0, slot_of)
        return parts.view(context.rows, -1, parts.shape[1]).sum(1), None, None


class Collect(torch.autograd.Function):
    """The rows of y at the slots; the gradient goes there alone."""

    @staticmethod
    def forward(context, y: Tensor, slot_of: Tensor) -> Tensor:
        context.save_for_backward(slot_of)
        context.slots = y.shape[0]
        return y.index_select(0, slot_of)

    @staticmethod
    def backward(context, gradient: Tensor):
        (slot_of,) = context.saved_tensors
        return gradient.new_zeros(context.slots, gradient.shape[1]).index_copy_(0, slot_of, gradient), None


def compute_dtype(x: Tensor) -> torch.dtype:
    """What matrix products are computed in."""
    kind = x.device.type
    return torch.get_autocast_dtype(kind) if torch.is_autocast_enabled(kind) else x.dtype


def rms_norm(x: Tensor, norm: nn.Module) -> Tensor:
    """Gemma-style: scaled by 1 + weight, in fp32, rounded once."""
    y = F.rms_norm(x.float(), (x.shape[-1],), 1.0 + norm.weight.float(), norm.eps)
    return y.to(compute_dtype(x))


def rotate(x: Tensor, tables: tuple[Tensor, Tensor]) -> Tensor:
    """Partial RoPE of x [..., tokens, heads, dim]; half-split pairing inside the first dims."""
    cos, sin = (table[..., None, :] for table in tables)
    half = cos.shape[-1]
    first, second = x[..., :half].float(), x[..., half : 2 * half].float()
    turned = torch.cat([first * cos - second * sin, second * cos + first * sin], dim=-1)
    return torch.cat([turned.to(x.dtype), x[..., 2 * half :]], dim=-1)


def scaled_attention(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None) -> Tensor:
    """Causal where no mask [rows, kv heads, tokens, tokens] is given."""
    if mask is None:
        return F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
    size = q.shape[1] // k.shape[1]
    groups = []
    for group in range(k.shape[1]):  # a mask that all heads of a call share is not copied for each
        heads = slice(group * size, (group + 1) * size)
        keys = k[:, group : group + 1].expand(-1, size, -1, -1)
        values = v[:, group : group + 1].expand(-1, size, -1, -1)
        part = mask[:, group : group + 1]
        groups.append(F.scaled_dot_product_attention(q[:, heads], keys, values, attn_mask=part))
    return torch.cat(groups, dim=1)


def block_scores(iq: Tensor, ik: Tensor, at: Tensor, block: int) -> Tensor:
    """Best index score of each block [rows, groups, queries, blocks]; -inf for keys after the query.

    iq [rows, groups, queries, dim], ik [rows, tokens, dim], at [rows, queries] positions.
    """
    tokens = ik.shape[1]
    scores = torch.einsum("bgqd,btd->bgqt", iq, ik).float()
    future = torch.arange(tokens, device=ik.device) > at[:, None, :, None]
    scores = scores.masked_fill(future, float("-inf"))
    pad = -tokens % block
    if pad:
        scores = F.pad(scores, (0, pad), value=float("-inf"))
    return scores.unflatten(-1, (-1, block)).amax(-1)


@torch.no_grad()
def choose_blocks(iq: Tensor, ik: Tensor, block: int, topk: int, local: int) -> Tensor:
    """keep [rows, groups, tokens, blocks]: the own block, and the best of those before it."""
    rows, groups, tokens, _ = iq.shape
    at = torch.arange(tokens, device=iq.device).expand(rows, -1)
    pieces = []
    for start in range(0, tokens, 1024):  # bounds the fp32 scores
        end = min(start + 1024, tokens)
        with torch.autocast(iq.device.type, enabled=False):
            scores = block_scores(iq[:, :, start:end].float(), ik.float(), at[:, start:end], block)
        pieces.append(keep_best(scores, at[:, start:end] // block, topk, local))
    return torch.cat(pieces, dim=2)


def keep_best(scores: Tensor, own: Tensor, topk: int, local: int) -> Tensor:
    """keep, from block scores [rows, groups, queries, blocks] and own blocks [rows, queries]."""
    for back in range(local):
        index = (own - back).clamp_min(0)[:, None, :, None].expand(*scores.shape[:3], 1)
        scores = scores.scatter(-1, index, float("inf"))
    best = scores.topk(min(topk, scores.shape[-1]), dim=-1)
    keep = torch.zeros_like(scores, dtype=torch.bool)
    return keep.scatter_(-1, best.indices, best.values > float("-inf"))


def token_mask(keep: Tensor, block: int, tokens: int) -> Tensor:
    """Causal mask [rows, groups, tokens, tokens] of kept blocks."""
    mask = keep.repeat_interleave(block, dim=-1)[..., :tokens]
    causal = torch.ones(tokens, tokens, dtype=torch.bool, device=keep.device).tril()
    return mask & causal


def choose_queries(tokens: int, first: int, count: int, valid: Tensor | None) -> Tensor:
    """Random positions [rows, count] where a choice exists, the later half twice as likely."""
    rows = 1 if valid is None else valid.shape[0]
    device = None if valid is None else valid.device
    length = torch.full((rows,), tokens, device=device) if valid is None else valid.sum(-1)
    span = (length - first).clamp_min(1)[:, None]
    uniform = torch.rand(rows, count, device=device)
    return (first + (uniform.sqrt() * span).long()).clamp_max(tokens - 1)


def block_attention(q: Tensor, k: Tensor, at: Tensor, block: int) -> Tensor:
    """Attention mass on each block [rows, heads, queries, blocks] of full causal attention."""
    k = k.repeat_interleave(q.shape[1] // k.shape[1], dim=1)
    scores = (q @ k.transpose(2, 3)).float() * q.shape[-1] ** -0.5
    future = torch.arange(k.shape[2], device=q.device) > at[:, None, :, None]
    attention = scores.masked_fill(future, float("-inf")).softmax(-1)
    pad = -k.shape[2] % block
    if pad:
        attention = F.pad(attention, (0, pad))
    return attention.unflatten(-1, (-1, block)).sum(-1)
