"""Sums up to two digits and products, with the steps a pupil would write."""

import random

from demo_model.tasks.example import Turn, contains
from demo_model.tasks.words import FRUITS, NAMES, THINGS

_ADD = ["What is {} + {}?", "{} + {} = ?", "Add {} and {}.", "How much is {} plus {}?", "Compute {} + {}.",
        "What is {} plus {}?", "Calculate {} + {}.", "What is the sum of {} and {}?", "{} + {}"]
_SUBTRACT = ["What is {} - {}?", "{} - {} = ?", "How much is {} minus {}?", "Compute {} - {}.",
             "What is {} minus {}?", "Calculate {} - {}.", "{} - {}"]
_MULTIPLY = ["What is {} * {}?", "{} * {} = ?", "How much is {} times {}?", "Multiply {} by {}.",
             "Compute {} * {}.", "What is {} times {}?", "What is {} x {}?"]


def _number(rng: random.Random) -> int:
    return rng.randint(0, 9) if rng.random() < 0.2 else rng.randint(10, 99)


def add_steps(a: int, b: int) -> str:
    ones, tens = a % 10 + b % 10, a // 10 + b // 10
    if ones < 10:
        steps = f"{a % 10} + {b % 10} = {ones}. {a // 10} + {b // 10} = {tens}."
    else:
        steps = f"{a % 10} + {b % 10} = {ones}, carry 1. {a // 10} + {b // 10} + 1 = {tens + 1}."
    return f"Ones and tens: {steps} So {a} + {b} = {a + b}."


def subtract_steps(a: int, b: int) -> str:
    if a % 10 >= b % 10:
        steps = f"{a % 10} - {b % 10} = {a % 10 - b % 10}. {a // 10} - {b // 10} = {a // 10 - b // 10}."
    else:
        steps = (f"{a % 10 + 10} - {b % 10} = {a % 10 + 10 - b % 10}, borrow 1. "
                 f"{a // 10} - {b // 10} - 1 = {a // 10 - b // 10 - 1}.")
    return f"Ones and tens: {steps} So {a} - {b} = {a - b}."


def multiply_steps(a: int, b: int) -> str:
    """a may have two digits, b has one."""
    if a < 10:
        return f"From the table: {a} * {b} = {a * b}."
    tens = a // 10 * 10
    return f"{tens} * {b} = {tens * b}. {a % 10} * {b} = {a % 10 * b}. {tens * b} + {a % 10 * b} = {a * b}."


def _check(result: int) -> dict:
    return {"type": "regex", "value": f"(^|[^0-9.]){result}[.]?$"}


def arithmetic(rng: random.Random) -> Turn:
    kind = rng.random()
    a, b = _number(rng), _number(rng)
    if kind < 0.40:
        form, steps, sign, result = rng.choice(_ADD), add_steps(a, b), "+", a + b
    elif kind < 0.75:
        a, b = max(a, b), min(a, b)
        form, steps, sign, result = rng.choice(_SUBTRACT), subtract_steps(a, b), "-", a - b
    else:
        return word_problem(rng)
    answer = f"{a} {sign} {b} = {result}"
    low, high = (min(a, b), max(a, b)) if sign == "+" else (a, b)
    turn = Turn("arithmetic", form.format(a, b), answer, steps, f"sum:{low}{sign}{high}", _check(result), thinks=True)
    if max(a, b) > 9:
        turn.words = [steps]  # said aloud when thinking is disabled
    return turn


def multiplication(rng: random.Random) -> Turn:
    """The table by heart, two digits by one in steps; the answer shows the steps where thoughts do not."""
    a = rng.randint(2, 10) if rng.random() < 0.4 else rng.randint(11, 99)
    b = rng.randint(2, 9)
    text, answer = rng.choice(_MULTIPLY).format(a, b), f"{a} * {b} = {a * b}"
    key = f"product:{text}" if a <= 10 else f"product:{a}*{b}"
    turn = Turn("multiplication", text, answer, multiply_steps(a, b), key, _check(a * b), thinks=True)
    if a > 10:
        turn.words = [multiply_steps(a, b)]  # said aloud when thinking is disabled
    return turn


def word_problem(rng: random.Random) -> Turn:
    """A sum told as a story; the answer begins with the steps where thoughts do not show them."""
    name = rng.choice(NAMES)
    thing = rng.choice(FRUITS + THINGS)
    things = {"cherry": "cherries", "strawberry": "strawberries", "raspberry": "raspberries",
              "blackberry": "blackberries", "blueberry": "blueberries", "cranberry": "cranberries",
              "knife": "knives", "shelf": "shelves", "peach": "peaches", "box": "boxes", "glass": "glasses",
              "brush": "brushes", "bench": "benches", "torch": "torches", "watch": "watches",
              "compass": "compasses", "scissors": "scissors"}.get(thing, thing + "s")
    a, b = rng.randint(2, 60), rng.randint(2, 39)
    if rng.random() < 0.5:
        text = rng.choice([
            f"{name} has {a} {things} and gets {b} more. How many {things} does {name} have now?",
            f"{name} owns {a} {things} and buys {b} more. How many {things} are there now?",
            f"There are {a} {things}. {name} adds {b}. How many {things} are there?",
        ])
        steps, result, key = add_steps(a, b), a + b, f"sum:{min(a, b)}+{max(a, b)}"
    else:
        a, b = max(a, b), min(a, b)
        text = rng.choice([
            f"{name} has {a} {things} and gives away {b}. How many {things} are left?",
            f"There are {a} {things}. {name} takes {b}. How many {things} are left?",
            f"{name} had {a} {things} and lost {b}. How many {things} does {name} still have?",
        ])
        steps, result, key = subtract_steps(a, b), a - b, f"sum:{a}-{b}"
    answer = f"The number of {things} is {result}."
    turn = Turn("arithmetic", text, answer, steps, key, contains(f" is {result}."), thinks=True)
    turn.words = [steps, answer]
    return turn
