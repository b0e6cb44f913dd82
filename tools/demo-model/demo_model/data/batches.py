"""Reads shards as the data processes write them, and forms batches of rows of like length."""

import random
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from demo_model.data.shards import shard_path

ROW_MULTIPLE = 64
PATIENCE_SECONDS = 300


@dataclass
class Batch:
    ids: Tensor  # int64 [rows, tokens], right-padded
    valid: Tensor  # bool [rows, tokens]
    weights: Tensor  # f32 [rows, tokens], of the prediction of each token; 0 for the first

    @property
    def tokens(self) -> int:
        return int(self.valid.sum())


def rows_to_batch(rows: list[tuple[np.ndarray, np.ndarray]], prompt_weight: float, device: str) -> Batch:
    width = -(-max(len(ids) for ids, _ in rows) // ROW_MULTIPLE) * ROW_MULTIPLE
    ids = np.zeros((len(rows), width), dtype=np.int64)
    weights = np.zeros((len(rows), width), dtype=np.float32)
    valid = np.zeros((len(rows), width), dtype=bool)
    scale = np.array([0.0, 1.0, prompt_weight], dtype=np.float32)
    for row, (tokens, said) in enumerate(rows):
        ids[row, : len(tokens)] = tokens
        weights[row, 1 : len(tokens)] = scale[said[1:]]
        valid[row, : len(tokens)] = True
    return Batch(*(torch.from_numpy(x).to(device, non_blocking=True) for x in (ids, valid, weights)))


def by_length(rows: list, batch_tokens: int) -> list[list]:
    """Rows of like length together, so that little is padded."""
    batches, current = [], []
    for row in sorted(rows, key=lambda one: len(one[0])):
        width = -(-len(row[0]) // ROW_MULTIPLE) * ROW_MULTIPLE
        if current and (len(current) + 1) * width > batch_tokens:
            batches.append(current)
            current = []
        current.append(row)
    return batches + [current] if current else batches


class Stream:
    """Batches of one kind of shard, without end: what is exhausted begins again in another order."""

    def __init__(self, folder: Path, kind: str, shards: int, batch_tokens: int, seed: int):
        self.folder, self.kind, self.shards = folder, kind, shards
        self.batch_tokens, self.seed = batch_tokens, seed
        self.next_shard = 0  # counts on past the last shard: later rounds read the same again

    @property
    def rounds(self) -> float:
        return self.next_shard / self.shards

    def __iter__(self) -> Iterator[list]:
        while True:
            number = self.next_shard
            rows = self._read(number % self.shards)
            self.next_shard += 1
            rng = random.Random(f"{self.seed}-{self.kind}-{number}")
            rng.shuffle(rows)
            batches = by_length(rows, self.batch_tokens)
            rng.shuffle(batches)
            yield from batches

    def _read(self, index: int) -> list[tuple[np.ndarray, np.ndarray]]:
        path = shard_path(self.folder, self.kind, index)
        deadline = time.time() + PATIENCE_SECONDS
        if not path.exists():
            print(f"train: waits for {path.name}", file=sys.stderr, flush=True)
        while not path.exists():
            if time.time() > deadline:
                raise TimeoutError(f"{path.name} did not appear within {PATIENCE_SECONDS} s; are shards being made?")
            time.sleep(0.2)
        with np.load(path) as data:
            ids, said, lengths = data["ids"], data["said"], data["lengths"]
        ends = lengths.cumsum()
        return [(ids[end - n : end], said[end - n : end]) for end, n in zip(ends, lengths)]
