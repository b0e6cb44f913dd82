"""Turns become dialogues: messages with thoughts as the mode says, and the mixture of skills."""

import random
from dataclasses import dataclass

from demo_model.tasks.example import MODES, Turn, draw, is_held_out
from demo_model.tasks import facts, lists, sums, talk, tools

MIXTURE = {  # relative frequency of each kind of turn
    talk.greeting: 4,
    talk.identity: 5,
    talk.short_question: 8,
    talk.refusal: 7,
    sums.arithmetic: 18,
    sums.word_problem: 5,
    sums.multiplication: 8,
    lists.copy: 7,
    lists.reverse: 8,
    lists.sort: 9,
    facts.lookup: 10,
    facts.not_in_text: 8,
    tools.tool_call: 20,
    tools.two_calls: 3,
    tools.no_tool_fits: 5,
}
_SYSTEM = ["You are a helpful assistant.", "Answer briefly.", "Be polite.", "You help people.",
           "You are a friendly assistant of a small company."]


@dataclass
class Dialogue:
    messages: list[dict]
    mode: str
    tools: list[dict] | None = None
    muted: frozenset[int] = frozenset()  # turns of the assistant, counted from 0, that teach nothing


def thoughts_of(turn: Turn, mode: str, text: str) -> str | None:
    if mode == "disabled" or (mode == "adaptive" and not turn.thinks):
        return None
    return text


def answer_messages(turn: Turn, mode: str) -> list[dict]:
    """What the assistant says to a turn, its calls and their results included."""
    thoughts = thoughts_of(turn, mode, turn.thoughts)
    if turn.calls:
        messages = [tools.call_message(turn, thoughts, arguments_as_text=False)]
        messages += tools.result_messages(turn)
        last = {"role": "assistant", "content": turn.conclusion}
        after = thoughts_of(turn, mode, turn.conclusion_thoughts) if mode == "enabled" else None
        return messages + [last | ({"reasoning_content": after} if after else {})]
    answer = turn.answer
    if thoughts is None and turn.words:
        answer = " ".join(turn.words)
    message = {"role": "assistant", "content": answer}
    return [message | ({"reasoning_content": thoughts} if thoughts else {})]


def draw_dialogue(rng: random.Random) -> Dialogue:
    """A dialogue of one to five turns that shares one mode and one set of tools."""
    mode = rng.choice(MODES)
    makers, weights = list(MIXTURE), list(MIXTURE.values())
    count = rng.choice([1, 1, 2, 2, 3, 4, 5])
    turns = [draw(rng, maker, held_out=False) for maker in rng.choices(makers, weights, k=count)]
    if not any(turn.needs or turn.avoids for turn in turns) and rng.random() < 0.97:
        return assemble(rng, turns, mode, None)
    # What cannot be done without a tool may be possible here.
    turns, offered = tools.offer(rng, [turn for turn in turns if turn.skill != "refusal"])
    return assemble(rng, turns, mode, offered) if turns else draw_dialogue(rng)


def draw_long_dialogue(rng: random.Random, characters: int) -> Dialogue:
    """Questions about a long text, those that are held out left out."""
    mode = rng.choice(MODES)
    turns = facts.needle(rng, characters)
    first, rest = turns[0], [turn for turn in turns[1:] if not is_held_out(turn.key)]
    if is_held_out(first.key):
        return draw_long_dialogue(rng, characters)
    return assemble(rng, [first, *rest], mode, None)


def assemble(rng: random.Random, turns: list[Turn], mode: str, offered: list[dict] | None) -> Dialogue:
    messages: list[dict] = []
    if rng.random() < 0.15:
        messages.append({"role": "system", "content": rng.choice(_SYSTEM)})
    for turn in turns:
        messages.append({"role": "user", "content": turn.user})
        messages += answer_messages(turn, mode)
    muted = forget_thoughts(rng, messages) if mode != "disabled" and rng.random() < 0.3 else frozenset()
    return Dialogue(messages, mode, offered, muted)


def forget_thoughts(rng: random.Random, messages: list[dict]) -> frozenset[int]:
    """Drops the thoughts of some first answers, as many clients do; that nothing was thought is not taught."""
    answers = [message for message in messages if message["role"] == "assistant"]
    count = rng.randint(0, len(answers) - 1)
    for answer in answers[:count]:
        answer.pop("reasoning_content", None)
    return frozenset(range(count))
