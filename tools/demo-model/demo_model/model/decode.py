"""Greedy generation for many prompts at once, with a cache of keys, values and index keys."""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from demo_model.model.network import (FastNetwork, Mode, block_scores, choose_blocks, keep_best, rms_norm,
                                      scaled_attention, token_mask)


@dataclass
class LayerCache:
    keys: Tensor  # [rows, kv heads, positions, dim]
    values: Tensor
    index_keys: Tensor | None  # [rows, positions, dim]


class Decoder:
    """One batch of prompts and their caches."""

    def __init__(self, network: FastNetwork, mode: Mode, end_id: int):
        self.network, self.mode, self.end_id = network, mode, end_id

    @torch.no_grad()
    def generate(self, prompts: list[list[int]], most: int, device: str) -> list[list[int]]:
        """Up to `most` tokens for each prompt; the end token closes an answer and is part of it."""
        lengths = torch.tensor([len(prompt) for prompt in prompts], device=device)
        width = -(-int(lengths.max()) // 64) * 64
        ids = torch.zeros(len(prompts), width, dtype=torch.long)
        for row, prompt in enumerate(prompts):
            ids[row, : len(prompt)] = torch.tensor(prompt)
        hidden, caches = self.prefill(ids.to(device), width + most)
        last = hidden[torch.arange(len(prompts), device=device), lengths - 1]
        token = self.network.logits(last).float().argmax(-1)
        answers, done = [token], token == self.end_id
        for step in range(most - 1):
            if bool(done.all()):
                break
            hidden = self.step(token, lengths + step, caches)
            token = self.network.logits(hidden).float().argmax(-1)
            token = torch.where(done, self.end_id, token)
            answers.append(token)
            done |= token == self.end_id
        return [cut(row, self.end_id) for row in torch.stack(answers, 1).tolist()]

    def prefill(self, ids: Tensor, positions: int) -> tuple[Tensor, list[LayerCache]]:
        net, mode, config = self.network, self.mode, self.network.config
        text = net.model.model
        rows, tokens = ids.shape
        x = F.embedding(ids, text.embed_tokens.weight)
        tables = net.rope_tables(torch.arange(tokens, device=ids.device))
        caches = []
        topk = mode.topk_blocks or config.index_topk_blocks
        for layer in text.layers:
            attention = layer.self_attn
            h = rms_norm(x, layer.input_layernorm)
            q, k, v = net.project(attention, h, tables, mode)
            mask = index_keys = None
            if attention.indexer is not None:
                iq, ik = net.project_index(attention.indexer, h, tables, mode)
                index_keys = room(ik, 1, positions)
                if mode.sparse and tokens > topk * config.index_block_size:
                    keep = choose_blocks(iq, ik, config.index_block_size, topk, mode.local_blocks)
                    mask = token_mask(keep, config.index_block_size, tokens)
            out = scaled_attention(q, k, v, mask).transpose(1, 2).reshape(rows, tokens, -1)
            x = x + F.linear(out, net.weight(attention.o_proj.weight, mode))
            h = rms_norm(x, layer.post_attention_layernorm)
            x = x + net.feed_forward(layer.mlp, h, mode, None, None)
            caches.append(LayerCache(room(k, 2, positions), room(v, 2, positions), index_keys))
        return rms_norm(x, text.norm), caches

    def step(self, token: Tensor, position: Tensor, caches: list[LayerCache]) -> Tensor:
        """Hidden states [rows, hidden] after one more token of each row, at `position` [rows]."""
        net, mode, config = self.network, self.mode, self.network.config
        text = net.model.model
        rows = token.shape[0]
        at = position[:, None]
        x = F.embedding(token[:, None], text.embed_tokens.weight)
        tables = net.rope_tables(at)
        everyone = torch.arange(rows, device=token.device)
        topk, block = mode.topk_blocks or config.index_topk_blocks, config.index_block_size
        for layer, cache in zip(text.layers, caches):
            attention = layer.self_attn
            h = rms_norm(x, layer.input_layernorm)
            q, k, v = net.project(attention, h, tables, mode)
            cache.keys[everyone, :, position] = k[:, :, 0]
            cache.values[everyone, :, position] = v[:, :, 0]
            positions = cache.keys.shape[2]
            seen = torch.arange(positions, device=token.device) <= at  # [rows, positions]
            mask = seen[:, None, None, :].expand(-1, config.num_key_value_heads, -1, -1)
            if cache.index_keys is not None:
                iq, ik = net.project_index(attention.indexer, h, tables, mode)
                cache.index_keys[everyone, position] = ik[:, 0]
                if mode.sparse:
                    with torch.autocast(token.device.type, enabled=False):
                        scores = block_scores(iq.float(), cache.index_keys.float(), at, block)
                    keep = keep_best(scores, at // block, topk, mode.local_blocks)
                    mask = mask & keep.repeat_interleave(block, dim=-1)[..., :positions]
            out = scaled_attention(q, cache.keys, cache.values, mask).transpose(1, 2).reshape(rows, 1, -1)
            x = x + F.linear(out, net.weight(attention.o_proj.weight, mode))
            h = rms_norm(x, layer.post_attention_layernorm)
            x = x + net.feed_forward(layer.mlp, h, mode, None, None)
        return rms_norm(x, text.norm)[:, 0]


def room(x: Tensor, dim: int, positions: int) -> Tensor:
    """A copy with zeros up to `positions` along `dim`."""
    shape = list(x.shape)
    shape[dim] = positions
    grown = x.new_zeros(shape)
    grown.narrow(dim, 0, x.shape[dim]).copy_(x)
    return grown


def cut(ids: list[int], end_id: int) -> list[int]:
    return ids[: ids.index(end_id) + 1] if end_id in ids else ids
