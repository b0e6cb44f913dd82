"""Reads a generated answer (thoughts, text, tool calls) and checks it, as `altstream eval` does."""

import json
import re

NAMESPACE = "]<]minimax[>["
_OPEN, _CLOSE, _END = "<mm:think>", "</mm:think>", "[e~["
_BLOCK = re.compile(re.escape(NAMESPACE) + r"<tool_call>(.*?)" + re.escape(NAMESPACE) + r"</tool_call>", re.S)
_INVOKE = re.compile(
    re.escape(NAMESPACE) + r'<invoke name="([^"]*)">(.*?)' + re.escape(NAMESPACE) + r"</invoke>", re.S)
_FIELD = re.compile(
    re.escape(NAMESPACE) + r"<([^/<>]+)>(.*?)" + re.escape(NAMESPACE) + r"</\1>", re.S)
_REFUSAL = re.compile(
    r"\b(sorry|apologi[sz]e|afraid|cannot|can't|can not|could not|couldn't|unable to|not able to|won't|will not"
    r"|do not know|don't know|do not have|don't have)\b", re.I)


def read_answer(text: str, mode: str, tools: list[dict] | None) -> dict:
    """{"finished", "reasoning", "content", "calls": [{"name", "arguments"}]} of raw generated text."""
    finished = text.endswith(_END)
    text = text.removesuffix(_END)
    reasoning = None
    inside = mode == "enabled"
    if not inside and text.startswith(_OPEN):
        inside, text = True, text[len(_OPEN) :]
    if inside:
        reasoning, closer, rest = text.partition(_CLOSE)
        text = rest if closer else ""
    else:
        text = text.removeprefix(_CLOSE)
    calls = []
    for block in _BLOCK.findall(text):
        for name, fields in _INVOKE.findall(block):
            properties = _properties(tools, name)
            arguments = {key: _value(raw, properties.get(key, {})) for key, raw in _FIELD.findall(fields)}
            calls.append({"name": name, "arguments": arguments})
    content = _BLOCK.sub("", text).strip()
    return {"finished": finished, "reasoning": reasoning, "content": content, "calls": calls}


def _properties(tools: list[dict] | None, name: str) -> dict:
    for tool in tools or []:
        if tool["function"]["name"] == name:
            return tool["function"]["parameters"]["properties"]
    return {}


def _value(raw: str, schema: dict):
    kind = schema.get("type")
    if kind == "array":
        return [value for _, value in _FIELD.findall(raw)]
    try:
        if kind == "integer":
            return int(raw)
        if kind == "boolean":
            return {"true": True, "false": False}[raw.lower()]
    except (ValueError, KeyError):
        pass
    return raw


def is_right(check: dict, answer: dict) -> bool:
    """Whether an answer is what the suite wants."""
    if not answer["finished"]:
        return False
    if check["type"] == "tool_call":
        if len(answer["calls"]) != 1:
            return False
        call = answer["calls"][0]
        return call["name"] == check["name"] and (
            "arguments" not in check or json.dumps(call["arguments"], sort_keys=True)
            == json.dumps(check["arguments"], sort_keys=True))
    if answer["calls"]:
        return False
    content, value = answer["content"], check.get("value", "")
    match check["type"]:
        case "equals":
            return content == value
        case "contains":
            return value in content
        case "regex":
            return re.search(value, content) is not None
        case "refusal":
            return _REFUSAL.search(content) is not None and value in content
    raise ValueError(f"unknown check: {check['type']}")
