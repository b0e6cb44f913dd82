"""Renders dialogues with chat_template.jinja, as transformers and Altstream do, and encodes them."""

import json
from pathlib import Path

import numpy as np
from jinja2.sandbox import ImmutableSandboxedEnvironment
from tokenizers import Tokenizer

TEMPLATE = Path(__file__).parents[2] / "chat_template.jinja"


def _raise(message: str):
    raise ValueError(message)


class Renderer:
    """The chat template, ready to render."""

    def __init__(self, source: str | None = None):
        environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True)
        environment.filters["tojson"] = lambda value: json.dumps(value, ensure_ascii=False)
        environment.globals["raise_exception"] = _raise
        self.template = environment.from_string(source or TEMPLATE.read_text(encoding="utf-8"))

    def render(self, messages: list[dict], mode: str, tools: list[dict] | None = None,
               add_generation_prompt: bool = False) -> str:
        prepared = [_prepare(message) for message in messages]
        return self.template.render(messages=prepared, tools=tools or None, thinking_mode=mode,
                                    add_generation_prompt=add_generation_prompt)


def _prepare(message: dict) -> dict:
    """Content is text, and arguments are objects, as Altstream hands them to the template."""
    prepared = {**message, "content": message.get("content") or ""}
    if message.get("tool_calls"):
        calls = []
        for call in message["tool_calls"]:
            function = call["function"]
            arguments = function["arguments"]
            if isinstance(arguments, str):
                arguments = json.loads(arguments)
            calls.append({**call, "function": {**function, "arguments": arguments}})
        prepared["tool_calls"] = calls
    return prepared


class Encoder:
    """Token ids of rendered dialogues, and which of them the assistant said."""

    def __init__(self, tokenizer: Tokenizer):
        self.tokenizer = tokenizer
        self.begin = tokenizer.token_to_id("]~b]")
        self.end = tokenizer.token_to_id("[e~[")
        self.assistant = tokenizer.encode("ai\n", add_special_tokens=False).ids

    def ids(self, text: str) -> list[int]:
        return self.tokenizer.encode(text, add_special_tokens=False).ids

    def dialogue(self, text: str, muted: frozenset[int] = frozenset()) -> tuple[np.ndarray, np.ndarray]:
        """ids uint16, and 1 where the assistant speaks (the end of its turn included), else 0.

        `muted`: turns of the assistant, counted from 0, that get 0 as well.
        """
        ids = np.array(self.ids(text), dtype=np.uint16)
        said = np.zeros(len(ids), dtype=np.uint8)
        prefix = [self.begin, *self.assistant]
        speaking, at, turn = False, 0, -1
        values = ids.tolist()
        while at < len(values):
            if values[at : at + len(prefix)] == prefix:
                at += len(prefix)
                turn += 1
                speaking = turn not in muted
                continue
            said[at] = speaking
            if values[at] == self.end:
                speaking = False
            at += 1
        return ids, said
