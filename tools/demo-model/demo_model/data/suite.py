"""The held-out evaluation suite: `packages/minimax-m3-tiny/eval/demo.jsonl`, one prompt a line."""

import json
import random
from pathlib import Path

from demo_model.tasks.example import MODES, Turn, draw, is_held_out
from demo_model.tasks import facts, lists, sums, talk, tools

PROMPTS_PER_SKILL = 30
MAX_TOKENS = 200
_SIMPLE = {
    "greeting": talk.greeting,
    "identity": talk.identity,
    "question": talk.short_question,
    "arithmetic": sums.arithmetic,
    "multiplication": sums.multiplication,
    "copy": lists.copy,
    "reverse": lists.reverse,
    "sort": lists.sort,
    "lookup": facts.lookup,
    "refusal": talk.refusal,
    "tool_call": tools.tool_call,
    "tool_result": tools.tool_call,
    "tool_refusal": tools.no_tool_fits,
}
NEEDLE_CHARACTERS = (3000, 10200, 15500)  # 2.3 characters a token: 1400, more than 4096, nearly 7000 tokens
_SEED = 4


def make_suite() -> list[dict]:
    """All prompts, skill by skill; modes take turns. No key of them is ever trained on."""
    rng = random.Random(f"{_SEED}-suite")
    prompts, asked = [], set()
    for skill, maker in _SIMPLE.items():
        index = 0
        while index < PROMPTS_PER_SKILL:
            turn = draw(rng, maker, held_out=True)
            if (skill, turn.user) in asked:
                continue
            asked.add((skill, turn.user))
            prompts.append(_prompt(rng, skill, index, turn))
            index += 1
    return prompts + _needles(rng)


def _prompt(rng: random.Random, skill: str, index: int, turn: Turn) -> dict:
    mode = MODES[index % len(MODES)]
    prompt = {"id": f"{skill}-{index:02d}", "skill": skill, "thinking": mode,
              "messages": [{"role": "user", "content": turn.user}]}
    if turn.needs or turn.avoids:
        prompt["tools"] = tools.offer(rng, [turn])[1]
    check = turn.check
    if skill == "tool_result":
        thoughts = turn.thoughts if mode != "disabled" else None
        prompt["messages"].append(tools.call_message(turn, thoughts, arguments_as_text=True))
        prompt["messages"] += tools.result_messages(turn)
        check = turn.check_after_results
    return prompt | {"max_tokens": MAX_TOKENS, "check": check}


def _needles(rng: random.Random) -> list[dict]:
    """Every third text is longer than 4096 tokens; the fact lies at a random depth."""
    prompts = []
    low, high, highest = NEEDLE_CHARACTERS
    while len(prompts) < PROMPTS_PER_SKILL:
        index = len(prompts)
        characters = highest if index % 9 == 8 else high if index % 3 == 2 else rng.randint(low, high)
        turn = facts.needle(rng, characters)[0]
        if not is_held_out(turn.key):
            continue
        prompts.append({"id": f"needle-{index:02d}", "skill": "needle", "thinking": MODES[(index // 3) % 3],
                        "messages": [{"role": "user", "content": turn.user}],
                        "max_tokens": MAX_TOKENS, "check": turn.check})
    return prompts


def user_texts(prompts: list[dict]) -> set[str]:
    """The last question of each prompt, which no training dialogue may hold."""
    return {[m["content"] for m in prompt["messages"] if m["role"] == "user"][-1] for prompt in prompts}


def read_suite(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def write_suite(path: Path) -> int:
    prompts = make_suite()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(p, ensure_ascii=False) + "\n" for p in prompts), encoding="utf-8")
    return len(prompts)


if __name__ == "__main__":
    target = Path(__file__).parents[4] / "packages/minimax-m3-tiny/eval/demo.jsonl"
    print(f"{write_suite(target)} prompts written to packages/minimax-m3-tiny/eval/demo.jsonl")
