"""What transformers computes from the shipped checkpoint in fp32, for the tests in TypeScript.

Run on a CPU by `collect`: logits of stored prompts, greedy answers to twenty prompts of the suite, and
the rows on which perplexity is measured.
"""

import json
import time
from pathlib import Path

import numpy as np
import torch
import transformers
from torch import Tensor

from demo_model.answers import is_right, read_answer
from demo_model.data.render import Encoder, Renderer
from demo_model.data.shards import golden_rows, heldout_rows
from demo_model.data.suite import make_suite
from demo_model.data.vocabulary import read_tokenizer
from demo_model.model.checkpoint import read_checkpoint
from demo_model.sizes import Recipe

GREEDY_ANSWERS = 20
SMALLEST_GAP = 1e-3  # between the best two logits; fp32 implementations differ by 1e-5
LOGIT_PROMPTS = ("greeting-00", "arithmetic-01", "tool_call-02", "lookup-03")
STRIDE = 128  # every such id of the vocabulary is kept, beside the best five
EVERY = 8  # positions


def write_goldens(recipe: Recipe, out: Path, target: Path) -> None:
    """`out`: folder of the run, with `model/` in it. `target`: the golden file."""
    model = read_checkpoint(out / "model", recipe.model)
    tokenizer = read_tokenizer(out / "model")
    encoder, renderer = Encoder(tokenizer), Renderer()
    prompts = {}
    for prompt in make_suite():
        text = renderer.render(prompt["messages"], prompt["thinking"], prompt.get("tools"), True)
        prompts[prompt["id"]] = prompt | {"ids": encoder.ids(text)}
    goldens = {
        "producer": f"transformers {transformers.__version__}, torch {torch.__version__}, fp32, eager attention",
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
        "command": "tools/demo-model/collect",
        "logits": [_logits(model, prompts[name]) for name in LOGIT_PROMPTS] + [_long(model, prompts, recipe)],
        "greedy": _greedy(model, tokenizer, encoder, list(prompts.values())),
        "perplexity": _perplexity(model, recipe, out),
    }
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(json.dumps(goldens, separators=(",", ":")) + "\n", encoding="utf-8")


@torch.no_grad()
def _run(model: torch.nn.Module, ids: list[int]) -> Tensor:
    return model(torch.tensor([ids])).logits[0]


def _logits(model: torch.nn.Module, prompt: dict) -> dict:
    """Best five ids and logits at every position; a stride through the vocabulary at every eighth."""
    logits = _run(model, prompt["ids"])
    best = logits.topk(5, dim=-1)
    rounded = lambda values: [round(x, 5) for x in values.tolist()]
    sampled = {str(at): rounded(logits[at, ::STRIDE]) for at in range(0, len(logits), EVERY)}
    return {
        "prompt": prompt["id"], "ids": prompt["ids"], "bestIds": best.indices.tolist(),
        "bestLogits": [rounded(row) for row in best.values], "stride": STRIDE, "sampled": sampled,
        "sumOfMagnitudes": float(logits.abs().sum(dtype=torch.float64)),
    }


def _long(model: torch.nn.Module, prompts: dict[str, dict], recipe: Recipe) -> dict:
    """The shortest needle prompt in which blocks are dropped; of its positions only the last ones."""
    reach = recipe.model.dense_reach
    needles = [p for p in prompts.values() if p["skill"] == "needle" and len(p["ids"]) > reach]
    prompt = min(needles, key=lambda p: len(p["ids"]))
    if len(prompt["ids"]) > recipe.model.max_positions:
        prompt = prompt | {"ids": prompt["ids"][: recipe.model.max_positions]}
    whole = _logits(model, prompt)
    first = len(whole["ids"]) - 64
    return whole | {
        "first": first, "bestIds": whole["bestIds"][first:], "bestLogits": whole["bestLogits"][first:],
        "sampled": {at: row for at, row in whole["sampled"].items() if int(at) >= first},
    }


def _greedy(model, tokenizer, encoder: Encoder, prompts: list[dict]) -> list[dict]:
    """Answers token by token with transformers' cache, over all skills and modes.

    Answers that come within rounding of another one prove nothing: the next prompt takes their place.
    """
    short = [prompt for prompt in prompts if prompt["skill"] != "needle"]
    chosen = []
    for at in (place for start in range(4, 24) for place in range(start, len(short), 20)):
        answer = _answer(model, tokenizer, encoder, short[at])
        if answer["smallestGap"] > SMALLEST_GAP:
            chosen.append(answer)
        if len(chosen) == GREEDY_ANSWERS:
            return chosen
    raise RuntimeError(f"only {len(chosen)} answers are not decided by rounding")


@torch.no_grad()
def _answer(model, tokenizer, encoder: Encoder, prompt: dict, most: int = 120) -> dict:
    ids, cache, gaps = torch.tensor([prompt["ids"]]), None, []
    tokens: list[int] = []
    while len(tokens) < most and (not tokens or tokens[-1] != encoder.end):
        output = model(ids, past_key_values=cache, use_cache=True)
        cache = output.past_key_values
        two = output.logits[0, -1].topk(2)
        tokens.append(int(two.indices[0]))
        gaps.append(float(two.values[0] - two.values[1]))
        ids = torch.tensor([[tokens[-1]]])
    text = tokenizer.decode(tokens, skip_special_tokens=False)
    answer = read_answer(text, prompt["thinking"], prompt.get("tools"))
    return {
        "prompt": prompt["id"], "ids": prompt["ids"], "tokens": tokens, "text": text,
        "smallestGap": round(min(gaps), 5), "right": is_right(prompt["check"], answer),
    }


def _perplexity(model: torch.nn.Module, recipe: Recipe, out: Path) -> dict:
    """Rows with 1 where a token counts; their perplexity here, and with the weights before MXFP8."""
    rows = golden_rows(recipe, heldout_rows(recipe, out))
    evaluation = json.loads((out / "evaluation.json").read_text())
    return {
        "rows": [{"ids": ids.tolist(), "counts": said.tolist()} for ids, said in rows],
        "mxfp8": perplexity(model, rows), "trained": evaluation["perplexity"]["golden_rows_trained"],
    }


def perplexity(model: torch.nn.Module, rows: list[tuple[np.ndarray, np.ndarray]]) -> float:
    total, count = 0.0, 0
    for ids, said in rows:
        logprobs = _run(model, ids.tolist())[:-1].log_softmax(-1)
        own = logprobs.gather(1, torch.tensor(ids[1:].astype(np.int64))[:, None])[:, 0]
        kept = torch.tensor(said[1:].astype(bool))
        total -= float(own[kept].sum(dtype=torch.float64))
        count += int(kept.sum())
    return float(np.exp(total / count))
