"""Exports the trained model and measures what was exported: skills, perplexity, expert load."""

import argparse
import json
import time
from dataclasses import replace
from pathlib import Path

import torch

from demo_model.answers import is_right, read_answer
from demo_model.data.batches import by_length, rows_to_batch
from demo_model.model.build import build_model, choose_device
from demo_model.model.checkpoint import read_checkpoint, write_checkpoint
from demo_model.model.decode import Decoder
from demo_model.model.network import FastNetwork, Mode, Taps
from demo_model.data.render import Encoder, Renderer
from demo_model.data.shards import golden_rows, heldout_rows
from demo_model.sizes import RECIPES, Recipe
from demo_model.data.suite import make_suite
from demo_model.data.vocabulary import read_tokenizer

BATCH_TOKENS = 65536


class Evaluation:
    def __init__(self, recipe: Recipe, folder: Path, device: str):
        self.recipe, self.folder, self.device = recipe, folder, device
        self.tokenizer = read_tokenizer(folder)
        self.encoder, self.renderer = Encoder(self.tokenizer), Renderer()
        self.rows = heldout_rows(recipe, folder)

    def prompts(self) -> list[dict]:
        """The suite, each prompt with its ids; those that do not fit into the context are left out."""
        chosen, count = [], {}
        for prompt in make_suite():
            count[prompt["skill"]] = count.get(prompt["skill"], 0) + 1
            if self.recipe.suite_limit and count[prompt["skill"]] > self.recipe.suite_limit:
                continue
            text = self.renderer.render(prompt["messages"], prompt["thinking"], prompt.get("tools"), True)
            ids = self.encoder.ids(text)
            if len(ids) + prompt["max_tokens"] <= self.recipe.model.max_positions:
                chosen.append(prompt | {"ids": ids})
        return chosen

    def ask(self, network: FastNetwork, prompts: list[dict], mode: Mode) -> list[dict]:
        """Prompts with "text" and "right"."""
        decoder = Decoder(network, mode, self.encoder.end)
        answered = []
        groups = by_length([(prompt["ids"], prompt) for prompt in prompts], BATCH_TOKENS)
        for group in groups:
            # Short and long prompts never share a batch, so that padding costs little.
            most = max(prompt["max_tokens"] for _, prompt in group)
            with torch.autocast(self.device, dtype=torch.bfloat16):
                outputs = decoder.generate([ids for ids, _ in group], most, self.device)
            for (_, prompt), ids in zip(group, outputs):
                text = self.tokenizer.decode(ids, skip_special_tokens=False)
                answer = read_answer(text, prompt["thinking"], prompt.get("tools"))
                answered.append(prompt | {"text": text, "right": is_right(prompt["check"], answer),
                                          "tokens": len(ids)})
        return answered

    @torch.no_grad()
    def perplexity(self, network: FastNetwork, mode: Mode, taps: Taps | None = None, rows=None) -> float:
        """Of what the assistant says in dialogues that no shard holds, in fp32."""
        total, count = 0.0, 0
        for rows in by_length(self.rows if rows is None else rows, BATCH_TOKENS // 4):
            batch = rows_to_batch(rows, 0.0, self.device)
            hidden = network.hidden_states(batch.ids, mode, taps, batch.valid)
            counts = batch.weights[:, 1:] > 0
            logits = network.logits(hidden[:, :-1][counts])
            total += torch.nn.functional.cross_entropy(
                logits.float(), batch.ids[:, 1:][counts], reduction="sum").item()
            count += int(counts.sum())
        return float(torch.tensor(total / count).exp())


def skill_table(answered: list[dict]) -> dict[str, dict]:
    """{skill: {"right", "prompts", "enabled": [right, prompts], …}}"""
    table: dict[str, dict] = {}
    for prompt in answered:
        row = table.setdefault(prompt["skill"], {"right": 0, "prompts": 0})
        part = row.setdefault(prompt["thinking"], [0, 0])
        row["right"] += prompt["right"]
        row["prompts"] += 1
        part[0] += prompt["right"]
        part[1] += 1
    return table


def expert_loads(taps: Taps, layers: int) -> list[list[float]]:
    """Share of the routed tokens of each expert, for each MoE layer."""
    sums = [sum(taps.expert_counts[layer::layers]) for layer in range(layers)]
    return [[round(x, 5) for x in (counts / counts.sum()).tolist()] for counts in sums]


def export(recipe: Recipe, folder: Path, device: str) -> None:
    """Writes `model/` and what needs the trained weights beside the shipped ones: `exported.json`."""
    size = recipe.model
    state = torch.load(folder / "checkpoint.pt", map_location="cpu", weights_only=True)
    trained = build_model(size, recipe.seed)
    trained.load_state_dict(state["model"])
    write_checkpoint(trained, size, folder, folder / "model")
    evaluation = Evaluation(recipe, folder, device)
    mode, taps = Mode(sparse=True), Taps()
    original = FastNetwork(trained.to(device).eval())
    before = evaluation.perplexity(original, mode)
    few = evaluation.perplexity(original, mode, rows=golden_rows(recipe, evaluation.rows))
    network = FastNetwork(read_checkpoint(folder / "model", size).to(device))
    after = evaluation.perplexity(network, mode, taps)
    write_json(folder / "exported.json", {
        "recipe": recipe.name, "steps": state["step"], "seconds": round(state["elapsed"], 1),
        "progress": state["progress"], "short_tokens": state["short_tokens"], "long_tokens": state["long_tokens"],
        "parameters": sum(p.numel() for p in trained.parameters()),
        "perplexity": {"trained": before, "mxfp8": after, "rows": len(evaluation.rows),
                       "golden_rows_trained": few},
        "expert_load": expert_loads(taps, size.layers - size.dense_layers),
        "device": device_name(device), "torch": torch.__version__,
    })


def answer(recipe: Recipe, folder: Path, device: str) -> dict:
    """Asks the shipped weights all prompts: `answers.jsonl` and `evaluation.json`."""
    evaluation = Evaluation(recipe, folder, device)
    network = FastNetwork(read_checkpoint(folder / "model", recipe.model).to(device))
    mode, prompts = Mode(sparse=True), evaluation.prompts()
    started = time.time()
    answered = evaluation.ask(network, prompts, mode)
    seconds = time.time() - started
    with open(folder / "answers.jsonl", "w", encoding="utf-8") as file:
        for prompt in answered:
            kept = {k: prompt[k] for k in ("id", "skill", "thinking", "check", "text", "right", "tokens")}
            file.write(json.dumps(kept, ensure_ascii=False) + "\n")
    result = json.loads((folder / "exported.json").read_text()) | {
        "skills": skill_table(answered), "eval_seconds": round(seconds, 1),
        "longest_prompt": max(len(prompt["ids"]) for prompt in prompts),
        "needle": needle_ablations(evaluation, network, prompts, mode),
        "eval_device": device_name(device),
    }
    write_json(folder / "evaluation.json", result)
    return result


def device_name(device: str) -> str:
    return torch.cuda.get_device_name() if device == "cuda" else "cpu"


def write_json(path: Path, value: dict) -> None:
    path.write_text(json.dumps(value, indent=2) + "\n")


def needle_ablations(evaluation: Evaluation, network: FastNetwork, prompts: list[dict], mode: Mode) -> dict:
    """Right answers of the needle prompts with other choices of blocks than the indexer's."""
    needles = [prompt for prompt in prompts if prompt["skill"] == "needle"]
    topk = evaluation.recipe.model.topk_blocks
    modes = {
        "chosen_blocks": mode,
        "own_block_only": replace(mode, topk_blocks=1),
        "latest_blocks": replace(mode, local_blocks=topk),
        "all_blocks": replace(mode, sparse=False),
    }
    result = {"prompts": len(needles)}
    for name, variant in modes.items():
        result[name] = sum(prompt["right"] for prompt in evaluation.ask(network, needles, variant))
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--recipe", choices=RECIPES, default="full")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--stage", choices=("export", "answer"), help="one of the two; default: both")
    arguments = parser.parse_args()
    recipe, device = RECIPES[arguments.recipe], choose_device()
    if arguments.stage != "answer":
        export(recipe, arguments.out, device)
    if arguments.stage == "export":
        return
    result = answer(recipe, arguments.out, device)
    for skill, row in result["skills"].items():
        print(f"{skill:15} {row['right']:3}/{row['prompts']}")
    print(json.dumps({key: result[key] for key in ("perplexity", "needle", "eval_seconds")}))


if __name__ == "__main__":
    main()
