"""Facts that stand in the prompt: near by, and far back in a long text."""

import random

from demo_model.tasks.example import Turn, contains
from demo_model.tasks.words import (ADJECTIVES, ANIMALS, CITIES, COLORS, DAYS, JOBS, NAMES, PLACES, THINGS,
                                    VERBS_PAST, code, made_up_word, with_article)

ATTRIBUTES = {
    "secret code": code,
    "locker number": lambda rng: str(rng.randint(100, 999)),
    "favorite color": lambda rng: rng.choice(COLORS),
    "favorite animal": lambda rng: rng.choice(ANIMALS),
    "home town": lambda rng: rng.choice(CITIES),
    "job": lambda rng: rng.choice(JOBS),
    "lucky day": lambda rng: rng.choice(DAYS),
    "password": lambda rng: made_up_word(rng) + str(rng.randint(10, 99)),
    "badge": lambda rng: rng.choice(COLORS) + " " + rng.choice(THINGS),
    "meeting point": lambda rng: "the " + rng.choice(PLACES),
}
_QUESTIONS = ["What is the {attribute} of {name}?", "Tell me the {attribute} of {name}.",
              "Which {attribute} does {name} have?", "What is {name}'s {attribute}?",
              "Do you know the {attribute} of {name}?"]
_NOT_THERE = "I am sorry, but the text does not say that."


def fact(attribute: str, name: str, value: str) -> str:
    return f"The {attribute} of {name} is {value}."


def draw_facts(rng: random.Random, count: int) -> list[tuple[str, str, str]]:
    """Distinct (attribute, name) pairs; few names and attributes, so that both must be read."""
    names = rng.sample(NAMES, max(2, (count + 1) // 2)) if rng.random() < 0.5 else rng.sample(NAMES, count)
    pairs = [(attribute, name) for name in names for attribute in ATTRIBUTES]
    return [(a, n, ATTRIBUTES[a](rng)) for a, n in rng.sample(pairs, count)]


def question(rng: random.Random, attribute: str, name: str) -> str:
    return rng.choice(_QUESTIONS).format(attribute=attribute, name=name)


def lookup(rng: random.Random) -> Turn:
    facts = draw_facts(rng, rng.randint(2, 10))
    lines = [fact(*one) for one in facts]
    body = rng.choice(["\n", " "]).join(lines)
    if rng.random() < 0.12:
        known = {(a, n) for a, n, _ in facts}
        options = [(a, n) for a in ATTRIBUTES for _, n, _ in facts if (a, n) not in known]
        attribute, name = rng.choice(options)
        answer, check = _NOT_THERE, {"type": "refusal"}
        thoughts = f"I look for the {attribute} of {name}. The text does not say it."
    else:
        attribute, name, value = rng.choice(facts)
        answer, check = fact(attribute, name, value), contains(f" {value}.")
        thoughts = f"I look for the {attribute} of {name}. The text says: {answer}"
    intro = rng.choice(["", "Here are some facts:\n", "Read this: ", "Notes:\n"])
    text = f"{intro}{body}\n\n{question(rng, attribute, name)}"
    return Turn("lookup", text, answer, thoughts, f"lookup:{attribute}:{name}:{lines[0]}", check, thinks=True)


def not_in_text(rng: random.Random) -> Turn:
    """A question whose answer the text does not have, though it has both of its words."""
    while True:
        turn = lookup(rng)
        if turn.answer == _NOT_THERE:
            return turn


def filler(rng: random.Random) -> str:
    """A sentence that answers nothing."""
    name, thing = rng.choice(NAMES), rng.choice(THINGS)
    place, adjective = rng.choice(PLACES), rng.choice(ADJECTIVES)
    kind = rng.randrange(8)
    if kind == 0:
        return f"{name} {rng.choice(VERBS_PAST)} {with_article(adjective)} {thing} in the {place}."
    if kind == 1:
        return f"The {rng.choice(JOBS)} walked to the {place} on {rng.choice(DAYS)}."
    if kind == 2:
        return f"It was {with_article(adjective)} day, and the {place} was {rng.choice(ADJECTIVES)}."
    if kind == 3:
        return f"In {rng.choice(CITIES)}, {with_article(rng.choice(ANIMALS))} slept near the {thing}."
    if kind == 4:
        return f"Nobody saw why the {thing} stood in the {place}."
    if kind == 5:
        return f"{name} and {rng.choice(NAMES)} talked about the {adjective} {rng.choice(ANIMALS)}."
    if kind == 6:
        return f"After lunch, {name} {rng.choice(VERBS_PAST)} the {rng.choice(COLORS)} {thing}."
    return f"The {adjective} {rng.choice(ANIMALS)} of the {rng.choice(JOBS)} liked the {place}."


def haystack(rng: random.Random, characters: int, facts: list[tuple[str, str, str]]) -> str:
    """Filler of about so many characters with the facts at random places."""
    sentences: list[str] = []
    length = 0
    while length < characters:
        sentences.append(filler(rng))
        length += len(sentences[-1]) + 1
    for one in facts:
        sentences.insert(rng.randint(0, len(sentences)), fact(*one))
    pieces, at = [], 0
    while at < len(sentences):
        step = rng.randint(3, 9)
        pieces.append(" ".join(sentences[at : at + step]))
        at += step
    return "\n".join(pieces)


def needle(rng: random.Random, characters: int) -> list[Turn]:
    """A long text with several facts, and questions about them one after the other."""
    facts = draw_facts(rng, rng.randint(4, 10))
    text = haystack(rng, characters, facts)
    order = rng.sample(facts, len(facts))
    turns = []
    for index, (attribute, name, value) in enumerate(order):
        asked = question(rng, attribute, name)
        user = f"Read this text.\n{text}\n\n{asked}" if index == 0 else asked
        answer = fact(attribute, name, value)
        thoughts = f"I look for the {attribute} of {name}. The text says: {answer}"
        turns.append(Turn("needle", user, answer, thoughts, f"needle:{attribute}:{name}:{value}",
                          contains(f" {value}."), thinks=True))
    return turns


def story(rng: random.Random) -> str:
    """Plain text: a few sentences about one person in one place."""
    name, other, place = rng.choice(NAMES), rng.choice(NAMES), rng.choice(PLACES)
    thing, animal = rng.choice(THINGS), rng.choice(ANIMALS)
    lines = [
        f"{name} was {with_article(rng.choice(JOBS))} in {rng.choice(CITIES)}.",
        f"Every {rng.choice(DAYS)}, {name} went to the {place}.",
        f"There {name} {rng.choice(VERBS_PAST)} {with_article(rng.choice(ADJECTIVES))} {thing}.",
        f"{other} had {with_article(rng.choice(COLORS))} {animal}, and the {animal} liked the {thing}.",
        f'"The {place} is {rng.choice(ADJECTIVES)}," said {other}.',
        f"Then {name} and {other} {rng.choice(VERBS_PAST)} the {thing} together.",
    ]
    kept = [line for line in lines if rng.random() < 0.8]
    return " ".join(kept + [filler(rng) for _ in range(rng.randint(0, 3))] + [f"So ended the day at the {place}."])
