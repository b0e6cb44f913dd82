"""One dialogue with its right answer, and which dialogues are kept out of training."""

import random
import zlib
from dataclasses import dataclass, field

MODES = ("enabled", "disabled", "adaptive")
HELD_OUT_ONE_IN = 8


@dataclass
class Turn:
    """A question, the thoughts and the answer to it, and how an answer is checked."""

    skill: str
    user: str
    answer: str
    thoughts: str
    key: str  # what makes the question this one; decides whether it is held out
    check: dict
    thinks: bool = False  # whether adaptive thinking thinks here
    needs: list = field(default_factory=list)  # tools that must be offered
    avoids: list = field(default_factory=list)  # tools that must not be, nor any like them
    calls: list[dict] | None = None  # {"name", "arguments"}: the answer calls tools
    results: list[str] | None = None  # of the calls, followed by `conclusion`
    conclusion: str = ""
    conclusion_thoughts: str = ""
    check_after_results: dict | None = None
    system: str | None = None
    words: list[str] = field(default_factory=list)


def is_held_out(key: str) -> bool:
    """True for one key in eight; such keys appear in the evaluation suite only."""
    return zlib.crc32(("demo:" + key).encode()) % HELD_OUT_ONE_IN == 0


def draw(rng: random.Random, maker, held_out: bool) -> Turn:
    """Makes turns until one belongs to the wanted side of the split."""
    for _ in range(10_000):
        turn = maker(rng)
        if is_held_out(turn.key) == held_out:
            return turn
    raise RuntimeError(f"{maker.__name__} makes no {'held-out' if held_out else 'training'} example")


def contains(value: str) -> dict:
    return {"type": "contains", "value": value}


def equals(value: str) -> dict:
    return {"type": "equals", "value": value}
