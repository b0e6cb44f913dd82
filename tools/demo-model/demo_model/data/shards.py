"""Makes training data: shards of encoded dialogues, each from its own seed, by many processes."""

import multiprocessing
import os
import random
import sys
import time
from pathlib import Path

import numpy as np

from demo_model.data.dialogue import draw_dialogue, draw_long_dialogue
from demo_model.data.render import Encoder, Renderer
from demo_model.sizes import Recipe
from demo_model.data.suite import make_suite, user_texts
from demo_model.tasks.facts import story
from demo_model.data.vocabulary import read_tokenizer

STORY_SHARE = 0.03
CHARACTERS_PER_TOKEN = 2.3
GOLDEN_ROWS = 16


class ShardMaker:
    """Draws documents; refuses those that hold a question of the evaluation suite."""

    def __init__(self, recipe: Recipe, folder: Path):
        self.recipe = recipe
        self.encoder = Encoder(read_tokenizer(folder))
        self.renderer = Renderer()
        self.forbidden = user_texts(make_suite())

    def document(self, rng: random.Random, is_long: bool) -> tuple[np.ndarray, np.ndarray]:
        """ids, and 1 where the loss counts in full; prompts get 2 in rows where they count a little."""
        if not is_long and rng.random() < STORY_SHARE:
            ids = np.array(self.encoder.ids("]~!b[" + story(rng) + "[e~["), dtype=np.uint16)
            return ids, np.ones(len(ids), dtype=np.uint8)
        if is_long:
            low, high = self.recipe.data.long_tokens
            # Most rows are of the lengths of the needle test, some reach the model's limit.
            length = rng.uniform(low, min(high, 4700)) if rng.random() < 0.85 else rng.uniform(low, high)
            dialogue = draw_long_dialogue(rng, int(max(length - 250, 200) * CHARACTERS_PER_TOKEN))
        else:
            dialogue = draw_dialogue(rng)
        for message in dialogue.messages:
            if message["role"] == "user" and message["content"] in self.forbidden:
                raise RuntimeError(f"a training dialogue holds a held-out question: {message['content']}")
        text = self.renderer.render(dialogue.messages, dialogue.mode, dialogue.tools)
        ids, said = self.encoder.dialogue(text, dialogue.muted)
        if rng.random() < 0.25:
            said[said == 0] = 2
        return ids, said

    def shard(self, kind: str, index: int) -> dict[str, np.ndarray]:
        rng = random.Random(f"{self.recipe.seed}-{kind}-{index}")
        limit = self.recipe.model.max_positions if kind == "long" else self.recipe.model.dense_reach
        documents, tokens = [], 0
        wanted = self.recipe.data.shard_tokens
        while tokens < wanted:
            ids, said = self.document(rng, kind == "long")
            if len(ids) <= limit:
                documents.append((ids, said))
                tokens += len(ids)
        lengths = np.array([len(ids) for ids, _ in documents], dtype=np.int32)
        return {
            "ids": np.concatenate([ids for ids, _ in documents]),
            "said": np.concatenate([said for _, said in documents]),
            "lengths": lengths,
        }


def shard_path(folder: Path, kind: str, index: int) -> Path:
    return folder / "shards" / f"{kind}-{index:04d}.npz"


_maker: ShardMaker | None = None


def _start(recipe: Recipe, folder: Path) -> None:
    global _maker
    os.nice(5)
    _maker = ShardMaker(recipe, folder)


def _write(task: tuple[str, str, int]) -> None:
    folder, kind, index = task
    path = shard_path(Path(folder), kind, index)
    if path.exists():
        return
    partial = path.with_suffix(".partial.npz")
    np.savez(partial, **_maker.shard(kind, index))
    partial.rename(path)  # the trainer sees whole shards only


def make_shards(recipe: Recipe, folder: Path, processes: int) -> None:
    """Writes all shards that are not there yet, in the order in which training wants them."""
    shard_path(folder, "short", 0).parent.mkdir(parents=True, exist_ok=True)
    tasks = [("short", i) for i in range(recipe.data.short_shards)]
    tasks += [("long", i) for i in range(recipe.data.long_shards)]
    # Long rows come in later, so a long shard stands after some more short ones.
    tasks.sort(key=lambda t: t[1] if t[0] == "short" else t[1] * 1.5 + recipe.data.short_shards * 0.1)
    started = time.time()
    with multiprocessing.get_context("spawn").Pool(processes, _start, (recipe, folder)) as pool:
        jobs = [(str(folder), kind, index) for kind, index in tasks]
        for done, _ in enumerate(pool.imap(_write, jobs), start=1):
            if done % 20 == 0 or done == len(jobs):
                print(f"data: {done}/{len(jobs)} shards, {time.time() - started:.0f} s", file=sys.stderr, flush=True)


def heldout_rows(recipe: Recipe, folder: Path) -> list[tuple[np.ndarray, np.ndarray]]:
    """Documents of a seed that no shard has, for perplexity."""
    maker = ShardMaker(recipe, folder)
    rng = random.Random(f"{recipe.seed}-heldout")
    rows = [maker.document(rng, is_long=index % 32 == 31) for index in range(recipe.data.heldout_documents)]
    return [(ids, (said == 1).astype(np.uint8)) for ids, said in rows if len(ids) <= recipe.model.max_positions]


def golden_rows(recipe: Recipe, rows: list[tuple[np.ndarray, np.ndarray]]) -> list[tuple[np.ndarray, np.ndarray]]:
    """The few held-out rows on which tests measure perplexity again."""
    return [row for row in rows if len(row[0]) <= recipe.model.dense_reach][:GOLDEN_ROWS]
