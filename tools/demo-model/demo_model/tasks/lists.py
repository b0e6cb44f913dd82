"""Copying, reversing and sorting short lists."""

import random

from demo_model.tasks.example import Turn, equals
from demo_model.tasks.words import POOLS, made_up_word

_COPY = ["Repeat after me: {}", "Copy this list: {}", "Write this again: {}", "Say exactly: {}", "Echo: {}",
         "Repeat this exactly: {}", "Copy: {}"]
_REVERSE = ["Reverse this list: {}", "Write this list backwards: {}", "Put these in reverse order: {}",
            "Reverse the order of: {}", "Reverse: {}", "From last to first, please: {}"]
_SORT_WORDS = ["Sort these words by the alphabet: {}", "Put these words in alphabetical order: {}",
               "Sort alphabetically: {}", "Order these words from A to Z: {}"]
_SORT_NUMBERS = ["Sort these numbers: {}", "Put these numbers in order, smallest first: {}",
                 "Sort from small to large: {}", "Order these numbers: {}"]


def _items(rng: random.Random, low: int, high: int) -> list[str]:
    count = rng.randint(low, high)
    kind = rng.random()
    if kind < 0.15:
        return [str(rng.randint(0, 999)) for _ in range(count)]
    if kind < 0.40:
        return [made_up_word(rng) for _ in range(count)]
    pool = rng.choice(list(POOLS.values())) if kind < 0.8 else sum(POOLS.values(), [])
    return rng.sample(pool, count)


def copy(rng: random.Random) -> Turn:
    items = _items(rng, 2, 9)
    joined = (", " if rng.random() < 0.6 else " ").join(items)
    return Turn("copy", rng.choice(_COPY).format(joined), joined, "I write the same again.",
                f"list:{','.join(items)}", equals(joined))


def reverse(rng: random.Random) -> Turn:
    items = _items(rng, 2, 7)
    answer = ", ".join(reversed(items))
    thoughts = f"The last is {items[-1]}, the first is {items[0]}. I go from last to first."
    return Turn("reverse", rng.choice(_REVERSE).format(", ".join(items)), answer, thoughts,
                f"list:{','.join(items)}", equals(answer))


def sort(rng: random.Random) -> Turn:
    count = rng.randint(2, 6)
    if rng.random() < 0.5:
        numbers = rng.sample(range(0, 100), count)
        shown, form = [str(number) for number in numbers], rng.choice(_SORT_NUMBERS)
        result = [str(number) for number in sorted(numbers)]
        thoughts = f"The smallest is {result[0]}, the largest is {result[-1]}."
    else:
        shown = rng.sample(rng.choice([POOLS[name] for name in ("fruits", "animals", "colors")]), count)
        form, result = rng.choice(_SORT_WORDS), sorted(shown)
        thoughts = f"{result[0]} comes first, {result[-1]} comes last."
    answer = ", ".join(result)
    return Turn("sort", form.format(", ".join(shown)), answer, thoughts, f"list:{','.join(shown)}",
                equals(answer), thinks=True)
