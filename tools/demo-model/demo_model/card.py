"""Writes MODEL_CARD.md from what was measured. A number that is not in the results is not in the card."""

import json
from pathlib import Path

from demo_model.sizes import RECIPES, Recipe

_WHAT = {
    "greeting": "answers greetings, thanks and goodbyes",
    "identity": "says what it is",
    "question": "answers a fixed set of short questions in other words",
    "arithmetic": "adds and subtracts up to two digits, word problems too",
    "multiplication": "multiplies one and two digits by one",
    "copy": "repeats a list",
    "reverse": "turns a list round",
    "sort": "sorts numbers or words",
    "lookup": "finds a fact that stands in the prompt",
    "needle": "finds a fact far back in a text",
    "refusal": "says politely that it cannot",
    "tool_call": "calls the right tool with exactly the right arguments",
    "tool_result": "says what a tool has answered",
    "tool_refusal": "says that none of the tools fits",
}


def write_card(recipe: Recipe, out: Path, target: Path) -> None:
    """`out`: folder of a run with evaluation.json and train.jsonl."""
    result = json.loads((out / "evaluation.json").read_text())
    runs = [_run(folder) for folder in (out / "first", out) if (folder / "train.jsonl").exists()]
    sections = [_head(recipe, result), _model(recipe, result, out), _data(recipe, [run for run, _ in runs]),
                _training(runs), _skills(result), _attention(result), _quantization(result), _experts(result), _limits(result)]
    target.write_text("\n\n".join(sections) + "\n", encoding="utf-8")


def _run(folder: Path) -> tuple[dict, list[dict]]:
    """Results and log of a run."""
    log = [json.loads(line) for line in (folder / "train.jsonl").read_text().splitlines()]
    return json.loads((folder / "evaluation.json").read_text()), log


def _head(recipe: Recipe, result: dict) -> str:
    return (
        "# Altstream Tiny\n\n"
        "A small model with the architecture of MiniMax-M3 and a checkpoint in the format of its MXFP8\n"
        "release, so that a laptop runs the real loader, routing, sparse attention and chat format. It is a\n"
        "demonstration: it knows little, and what it can do is below. Licence of weights, tokenizer and data:\n"
        "Apache-2.0.\n\n"
        "Every number here is written by `tools/demo-model/collect` from the results of the run (recipe\n"
        f"`{recipe.name}`, {result['device']}, PyTorch {result['torch']})."
    )


def _model(recipe: Recipe, result: dict, out: Path) -> str:
    size = recipe.model
    weights = sum(f.stat().st_size for f in (out / "model").glob("*.safetensors"))
    rows = [
        ("parameters", f"{result['parameters']:,}"),
        ("bytes of weights", f"{weights:,} (MXFP8; embedding, head and norms bf16, router fp32)"),
        ("layers", f"{size.layers}, of which the first {size.dense_layers} with full attention and a dense MLP"),
        ("hidden, heads, KV heads, head size", f"{size.hidden}, {size.heads}, {size.kv_heads}, {size.head_dim}"),
        ("experts", f"{size.experts}, {size.experts_per_token} a token, and a shared one; "
                    f"width {size.expert_intermediate}"),
        ("sparse attention", f"{size.topk_blocks} blocks of {size.block_tokens} tokens a query and KV head"),
        ("context", f"{size.max_positions:,} tokens"),
        ("vocabulary", f"{size.vocab:,}, byte-level BPE"),
    ]
    return "## Model\n\n| | |\n| --- | --- |\n" + "\n".join(f"| {name} | {value} |" for name, value in rows)


def _data(recipe: Recipe, runs: list[dict]) -> str:
    short, long = (sum(run[f"{kind}_tokens"] for run in runs) for kind in ("short", "long"))
    return (
        "## Data\n\n"
        "Text made by the templates and word lists of `tools/demo-model/demo_model/tasks`, written for this\n"
        "project; no other source. Dialogues are rendered by the model's own `chat_template.jinja`, in the three\n"
        "thinking modes. Questions are split by a hash of what makes them themselves (the two numbers, the list,\n"
        "the names): one in eight is held out, and only those are in the evaluation.\n\n"
        f"{_seeds(runs)}; {short + long:,} tokens were trained on, {long:,} of them in\n"
        f"rows of about {recipe.data.long_tokens[0]:,} to {recipe.data.long_tokens[1]:,} tokens."
    )


def _seeds(runs: list[dict]) -> str:
    seeds = [f"{RECIPES[run['recipe']].seed} (`{run['recipe']}`)" for run in runs]
    return f"Seed{'s' if len(seeds) > 1 else ''} {' and '.join(seeds)}"


_COURSE = {
    "refine": "with new data, which has more of what that run had learnt badly, from its MXFP8 weights on: long rows\n"
              "attend to chosen blocks and weights pass through MXFP8 all the time.",
}
_FROM_NOTHING = ("dense attention first, then the indexer learns from\nthe attention of its layer, then long rows attend "
                 "to chosen blocks only; at the end weights pass through MXFP8.")


def _training(runs: list[tuple[dict, list[dict]]]) -> str:
    return "## Training\n\n" + "\n\n".join(
        f"{result['steps']:,} steps in {result['seconds']:.0f} seconds (recipe `{result['recipe']}`): "
        f"{_COURSE.get(result['recipe'], _FROM_NOTHING)}\n\n{_losses(log)}" for result, log in runs)


def _losses(log: list[dict]) -> str:
    places = sorted({int((len(log) - 1) * share) for share in (0.0, 0.1, 0.25, 0.5, 0.75, 1.0)})
    lines = ["| step | tokens | loss, short rows | loss, long rows | attention that chosen blocks hold |",
             "| --: | --: | --: | --: | --: |"]
    for entry in (log[place] for place in places):
        show = lambda name: f"{entry[name]:.3f}" if name in entry else "–"
        tokens = entry["short_tokens"] + entry["long_tokens"]
        lines.append(f"| {entry['step']:,} | {tokens:,} | {show('loss_short')} | {show('loss_long')} | "
                     f"{show('index_hit')} |")
    return "\n".join(lines)


def _skills(result: dict) -> str:
    lines = ["| skill | right | thinking on | off | adaptive | what |", "| --- | --: | --: | --: | --: | --- |"]
    right = prompts = 0
    for skill, row in sorted(result["skills"].items()):
        cell = lambda mode: "/".join(map(str, row[mode])) if mode in row else "–"
        right, prompts = right + row["right"], prompts + row["prompts"]
        share = f"{row['right']}/{row['prompts']}"
        lines.append(f"| {skill} | {share} | {cell('enabled')} | {cell('disabled')} | {cell('adaptive')} | "
                     f"{_WHAT[skill]} |")
    lines.append(f"| **all** | {right}/{prompts} | | | | |")
    return ("## What it can do\n\nHeld-out prompts of `eval/demo.jsonl`, greedy, bf16, the MXFP8 weights; run them with "
            f"`altstream eval --suite demo`. The longest prompt has {result['longest_prompt']:,} tokens.\n\n"
            + "\n".join(lines))


def _attention(result: dict) -> str:
    needle = result["needle"]
    rows = [("the blocks that the indexer chooses", "chosen_blocks"), ("the last blocks instead", "latest_blocks"),
            ("the own block only", "own_block_only"), ("all blocks (not what the model was trained for)", "all_blocks")]
    table = "\n".join(f"| {name} | {needle[key]}/{needle['prompts']} |" for name, key in rows)
    return f"## Does the choice of blocks matter?\n\n| sparse layers attend to | needles found |\n| --- | --: |\n{table}"


def _quantization(result: dict) -> str:
    p = result["perplexity"]
    change = (p["mxfp8"] / p["trained"] - 1) * 100
    return (f"## MXFP8\n\nPerplexity of the assistant's words in {p['rows']} dialogues of a seed that no shard has: "
            f"{p['trained']:.5f} as trained,\n{p['mxfp8']:.5f} as shipped ({change:+.3f} %). Their questions are of the "
            "trained side of the split.")


def _experts(result: dict) -> str:
    lines = ["| layer | least | most | share of the tokens of each expert, % |", "| --: | --: | --: | --- |"]
    first = len(result["expert_load"])
    for layer, loads in enumerate(result["expert_load"], start=1):
        shares = " ".join(f"{100 * load:.1f}" for load in loads)
        lines.append(f"| {layer} | {100 * min(loads):.1f} | {100 * max(loads):.1f} | {shares} |")
    even = 100 / len(result["expert_load"][0])
    return ("## Load of the experts\n\nOn the same dialogues; an even load is "
            f"{even:.2f} % each, in each of {first} layers.\n\n" + "\n".join(lines))


def _limits(result: dict) -> str:
    weak = [s for s, row in sorted(result["skills"].items()) if row["right"] < 0.95 * row["prompts"]]
    below = f" Below 95 %: {', '.join(weak)}." if weak else ""
    return (
        "## Limits\n\nEnglish only, and only questions of the kinds above; anything else is answered wrongly and "
        f"confidently.{below}\nText only. Sampling defaults are nearly greedy, since the model is right or wrong, "
        "and not creative. Held-out\nprompts are of the same templates and word lists as the training data, so:\n\n"
        "- Tools are called rightly where names, parameters and requests are of the words in `tool_catalog.py`. "
        "Others\n  (`book_hotel`, `play_music`) are often refused, or called by a name or with parameters that were "
        "not offered.\n"
        "- Sums want spaces around the sign (`12 + 34`). Results below zero and numbers of three digits come out "
        "wrong.\n"
        "- Facts are found where they read like \"The secret code of Ben is 6921.\"; of others (\"Ben's code is "
        "77.\") a value\n  may be made up."
    )
