"""Calling tools that are offered, using their results, and saying so when none fits."""

import json
import random

from demo_model.tasks.example import Turn, contains, equals
from demo_model.tasks.tool_catalog import NATURAL, Tool, made_up_tool, spoken

NO_TOOL = "I am sorry, but I cannot do that with the tools that I have."


def draw_tool(rng: random.Random) -> Tool:
    return rng.choice(NATURAL) if rng.random() < 0.5 else made_up_tool(rng)


def offer(rng: random.Random, turns: list[Turn]) -> tuple[list[Turn], list[dict]]:
    """The turns that go together, and the tools for them among up to three others, in any order."""
    kept: list[Turn] = []
    offered: dict[str, Tool] = {}
    avoided: list[Tool] = []
    for turn in turns:
        known = list(offered.values())
        fits = all(_fits(tool, known, avoided) for tool in turn.needs)
        if not fits or any(not _fits(tool, [], known) for tool in turn.avoids):
            continue
        kept.append(turn)
        offered |= {tool.name: tool for tool in turn.needs}
        avoided += turn.avoids
    others = rng.choice([0, 0, 1, 1, 2, 3])
    while others > 0 or not offered:
        other = draw_tool(rng)
        if other.name not in offered and _fits(other, list(offered.values()), avoided):
            offered[other.name] = other
        others -= 1
    shuffled = list(offered.values())
    rng.shuffle(shuffled)
    describe = rng.random() < 0.5
    return kept, [tool.schema(describe) for tool in shuffled]


def _fits(tool: Tool, known: list[Tool], avoided: list[Tool]) -> bool:
    """False where a request could mean two tools of a dialogue, or one that must not be there."""
    if any(_are_alike(tool, other) for other in avoided):
        return False
    return all(other is tool or not _are_alike(tool, other) for other in known)


def _are_alike(a: Tool, b: Tool) -> bool:
    """Tools of the same name, or of the same noun; made-up ones beside those of everyday use too."""
    return a.name == b.name or a.name.split("_")[-1] == b.name.split("_")[-1]


def _ask(rng: random.Random, tool: Tool) -> tuple[str, dict]:
    arguments = {name: make(rng) for name, make in tool.makers.items()}
    shown = {name: spoken(value) for name, value in arguments.items()}
    return rng.choice(tool.requests).format(**shown), arguments


def tool_call(rng: random.Random) -> Turn:
    """One call; half of the dialogues go on with its result."""
    tool = draw_tool(rng)
    text, arguments = _ask(rng, tool)
    result, sentence = tool.result(rng, arguments)
    return Turn(
        "tool_call", text, "", f"The tool {tool.name} does this.", f"ask:{text}",
        {"type": "tool_call", "name": tool.name, "arguments": arguments}, thinks=True,
        needs=[tool], calls=[{"name": tool.name, "arguments": arguments}],
        results=[result], conclusion=sentence, conclusion_thoughts="The tool has answered.",
        check_after_results=equals(sentence),
    )


def two_calls(rng: random.Random) -> Turn:
    """Two requests in one message, two calls in one answer."""
    first = rng.choice(NATURAL)
    second = first if rng.random() < 0.5 else rng.choice(NATURAL)
    (a, a_arguments), (b, b_arguments) = _ask(rng, first), _ask(rng, second)
    outcomes = [first.result(rng, a_arguments), second.result(rng, b_arguments)]
    return Turn(
        "tool_calls", f"{a} {b}", "", f"First {first.name}, then {second.name}.", f"ask:{a} {b}", contains(""),
        thinks=True, needs=list({first.name: first, second.name: second}.values()),
        calls=[{"name": first.name, "arguments": a_arguments}, {"name": second.name, "arguments": b_arguments}],
        results=[result for result, _ in outcomes], conclusion=" ".join(said for _, said in outcomes),
        conclusion_thoughts="The tools have answered.",
        check_after_results=equals(" ".join(said for _, said in outcomes)),
    )


def no_tool_fits(rng: random.Random) -> Turn:
    """A request for a tool that is not among those offered."""
    wanted = draw_tool(rng)
    text, _ = _ask(rng, wanted)
    return Turn("tool_refusal", text, NO_TOOL, "None of the tools does this.", f"ask:{text}",
                {"type": "refusal"}, thinks=True, avoids=[wanted])


def result_messages(turn: Turn) -> list[dict]:
    """The tool messages that follow a turn's calls, in OpenAI's form."""
    return [{"role": "tool", "tool_call_id": f"call_{i}", "content": text} for i, text in enumerate(turn.results)]


def call_message(turn: Turn, thoughts: str | None, arguments_as_text: bool) -> dict:
    """The assistant message of a turn's calls."""
    calls = []
    for i, call in enumerate(turn.calls):
        arguments = json.dumps(call["arguments"]) if arguments_as_text else call["arguments"]
        calls.append({"id": f"call_{i}", "type": "function",
                      "function": {"name": call["name"], "arguments": arguments}})
    message = {"role": "assistant", "content": "", "tool_calls": calls}
    return message | ({"reasoning_content": thoughts} if thoughts else {})
