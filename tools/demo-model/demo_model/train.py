"""Trains the model: dense attention first, then the indexer learns, then attention is sparse.

Time decides the schedule unless `steps` is given, so that a run ends when it must on any machine; the
log has the steps that it made. A run that stops early leaves a checkpoint and goes on from it.
"""

import argparse
import json
import time
from dataclasses import asdict, replace
from pathlib import Path

import torch
import torch.nn.functional as F

from demo_model.data.batches import Batch, Stream, rows_to_batch
from demo_model.model.build import build_model, choose_device
from demo_model.model.checkpoint import read_checkpoint
from demo_model.model.network import FastNetwork, Mode, Taps
from demo_model.sizes import RECIPES, Recipe

INDEX_LOSS = 1.0
BALANCE_LOSS = 1e-2
CLIP = 1.0
CHECKPOINT_SECONDS = 60
LOG_STEPS = 20
UNFINISHED = 3  # exit code of a run that stopped before its end


class Trainer:
    def __init__(self, recipe: Recipe, folder: Path, device: str):
        self.recipe, self.folder, self.device = recipe, folder, device
        self.model = build_model(recipe.model, recipe.seed).to(device)
        self.network = FastNetwork(self.model)
        self.index_parameters = [p for n, p in self.model.named_parameters() if ".indexer." in n]
        self.main_parameters = [p for n, p in self.model.named_parameters() if ".indexer." not in n]
        self.optimizer = self._optimizer()
        schedule, data = recipe.schedule, recipe.data
        self.short = Stream(folder, "short", data.short_shards, schedule.batch_tokens, recipe.seed)
        self.long = Stream(folder, "long", data.long_shards, schedule.long_batch_tokens, recipe.seed)
        self.step, self.elapsed, self.short_tokens, self.long_tokens = 0, 0.0, 0, 0
        self.tokens_before_long = 0
        self.skipped = 0  # steps whose gradient was not finite
        self.sums: dict[str, list[torch.Tensor]] = {}

    def _optimizer(self) -> torch.optim.Optimizer:
        decayed, plain = [], []
        for name, parameter in self.model.named_parameters():
            is_matrix = parameter.ndim >= 2 and "embed" not in name and "gate.weight" not in name
            (decayed if is_matrix else plain).append(parameter)
        groups = [{"params": decayed, "weight_decay": 0.1}, {"params": plain, "weight_decay": 0.0}]
        return torch.optim.AdamW(groups, lr=self.recipe.schedule.learning_rate, betas=(0.9, 0.95), eps=1e-8,
                                 fused=self.device == "cuda")

    @property
    def progress(self) -> float:
        """0 at the start, 1 at the end."""
        schedule = self.recipe.schedule
        return self.step / schedule.steps if schedule.steps else self.elapsed / schedule.seconds

    def learning_rate(self) -> float:
        """Warm-up, a constant part, and a fall to zero."""
        schedule = self.recipe.schedule
        warm = min(1.0, (self.step + 1) / schedule.warmup_steps)
        left = (1 - self.progress) / (1 - schedule.decay_from)
        return schedule.learning_rate * warm * max(0.0, min(1.0, left))

    def mode(self) -> Mode:
        schedule = self.recipe.schedule
        return Mode(
            sparse=self.progress >= schedule.sparse_from,
            distill=self.progress >= schedule.long_from,
            queries=schedule.distill_queries,
            quantized=self.progress >= schedule.quantized_from,
        )

    def run(self, stop_after: float) -> bool:
        """Trains until the end, or for `stop_after` seconds; true when the end is reached."""
        began = saved = time.time()
        short, long = iter(self.short), iter(self.long)
        while self.progress < 1:
            is_long = self.wants_long()
            rows = next(long if is_long else short)
            started = time.time()  # what was waited for the data is no training time
            self.train_step(rows_to_batch(rows, self.recipe.schedule.prompt_weight, self.device), is_long)
            self.elapsed += time.time() - started
            if self.step % LOG_STEPS == 0:
                self.log()
            now = time.time()
            if now - saved > CHECKPOINT_SECONDS:
                self.save()
                saved = now
            if now - began > stop_after:
                break
        if self.sums:
            self.log()
        self.save()
        return self.progress >= 1

    def wants_long(self) -> bool:
        """Long rows make up their share of all tokens since they came in."""
        schedule, seen = self.recipe.schedule, self.short_tokens + self.long_tokens
        if self.progress < schedule.long_from:
            self.tokens_before_long = seen
            return False
        return self.long_tokens <= schedule.long_share * (seen - self.tokens_before_long)

    def train_step(self, batch: Batch, is_long: bool) -> None:
        for group in self.optimizer.param_groups:
            group["lr"] = self.learning_rate()
        taps, mode = Taps(), self.mode()
        with torch.autocast(self.device, dtype=torch.bfloat16):
            hidden = self.network.hidden_states(batch.ids, mode, taps, batch.valid)
            loss = weighted_loss(self.network, hidden, batch)
        total = loss + BALANCE_LOSS * sum(taps.balance_loss)
        if taps.index_loss:
            total = total + INDEX_LOSS * sum(taps.index_loss) / len(taps.index_loss)
        self.optimizer.zero_grad(set_to_none=True)
        total.backward()
        norm = torch.nn.utils.clip_grad_norm_(self.main_parameters, CLIP)
        torch.nn.utils.clip_grad_norm_(self.index_parameters, CLIP)
        if torch.isfinite(norm + loss.detach()):
            self.optimizer.step()
            self.balance(taps)
        else:
            self.skipped += 1
        self.step += 1
        tokens = sum(len(row) for row in batch.ids)
        if is_long:
            self.long_tokens += tokens
        else:
            self.short_tokens += tokens
        self._note("loss_long" if is_long else "loss_short", loss)
        self._note("gradient", norm)
        for name, values in (("index_loss", taps.index_loss), ("index_hit", taps.index_hit)):
            for value in values:
                self._note(name, value)
        loads = torch.stack(taps.expert_counts)
        self._note("load_max_over_mean", (loads.amax(1) / loads.mean(1)).max())

    @torch.no_grad()
    def balance(self, taps: Taps) -> None:
        """Raises the bias of experts that had too little, lowers that of the others."""
        layers = [layer for layer in self.model.model.layers if hasattr(layer.mlp, "experts")]
        for layer, counts in zip(layers, taps.expert_counts):
            bias = layer.mlp.gate.e_score_correction_bias
            bias.add_(torch.sign(counts.mean() - counts), alpha=self.recipe.schedule.bias_step)
            bias.sub_(bias.mean())

    def _note(self, name: str, value: torch.Tensor) -> None:
        self.sums.setdefault(name, []).append(value.detach())

    def log(self) -> None:
        means = {name: round(torch.stack(values).float().mean().item(), 5) for name, values in self.sums.items()}
        self.sums.clear()
        mode = self.mode()
        entry = {
            "step": self.step, "seconds": round(self.elapsed, 2), "progress": round(self.progress, 4),
            "learning_rate": round(self.learning_rate(), 7), "short_tokens": self.short_tokens,
            "long_tokens": self.long_tokens, "sparse": mode.sparse, "distill": mode.distill,
            "quantized": mode.quantized, "skipped": self.skipped,
            "tokens_per_second": round((self.short_tokens + self.long_tokens) / max(self.elapsed, 1e-9)),
            "rounds_short": round(self.short.rounds, 3), "rounds_long": round(self.long.rounds, 3),
        } | means
        with open(self.folder / "train.jsonl", "a", encoding="utf-8") as file:
            file.write(json.dumps(entry) + "\n")
        if self.step % (LOG_STEPS * 5) == 0:
            print("train: " + json.dumps(entry), flush=True)

    # --- checkpoints -------------------------------------------------------------------------------

    @property
    def checkpoint(self) -> Path:
        return self.folder / "checkpoint.pt"

    def save(self) -> None:
        state = {
            "model": self.model.state_dict(), "optimizer": self.optimizer.state_dict(), "step": self.step,
            "elapsed": self.elapsed, "short_tokens": self.short_tokens, "long_tokens": self.long_tokens,
            "short_shard": self.short.next_shard, "long_shard": self.long.next_shard,
            "tokens_before_long": self.tokens_before_long, "recipe": asdict(self.recipe), "progress": self.progress,
        }
        partial = self.checkpoint.with_suffix(".partial")
        torch.save(state, partial)
        partial.rename(self.checkpoint)

    def resume(self, start: Path | None = None) -> None:
        """Goes on from the run's own checkpoint, else begins with the shipped weights in `start`, if given."""
        if not self.checkpoint.exists():
            if start is not None:
                self.model.load_state_dict(read_checkpoint(start, self.recipe.model).state_dict())
                print(f"train: begins with the weights of {start}", flush=True)
            return
        state = torch.load(self.checkpoint, map_location=self.device, weights_only=True)
        if state["recipe"]["model"] != asdict(self.recipe)["model"]:
            raise SystemExit(f"{self.checkpoint} is of another model; use another --out, or remove it")
        self.model.load_state_dict(state["model"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.step, self.elapsed = state["step"], state["elapsed"]
        self.tokens_before_long = state["tokens_before_long"]
        self.short_tokens, self.long_tokens = state["short_tokens"], state["long_tokens"]
        self.short.next_shard, self.long.next_shard = state["short_shard"], state["long_shard"]
        print(f"train: goes on at step {self.step}, progress {self.progress:.3f}", flush=True)


def weighted_loss(network: FastNetwork, hidden: torch.Tensor, batch: Batch) -> torch.Tensor:
    """Cross entropy of the tokens that count; logits are made for those only."""
    weights = batch.weights[:, 1:]
    counts = weights > 0
    logits = network.logits(hidden[:, :-1][counts])
    losses = F.cross_entropy(logits.float(), batch.ids[:, 1:][counts], reduction="none")
    kept = weights[counts]
    return (losses * kept).sum() / kept.sum()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--recipe", choices=RECIPES, default="full")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seconds", type=float, help="training time of the whole schedule")
    parser.add_argument("--steps", type=int, default=0, help="steps of the whole schedule, in place of time")
    parser.add_argument("--from", type=Path, dest="start", help="folder of a shipped checkpoint to begin with")
    parser.add_argument("--stop-after", type=float, default=1e9, help="seconds after which this call stops")
    arguments = parser.parse_args()
    device = choose_device()
    recipe = with_schedule(RECIPES[arguments.recipe], arguments.seconds, arguments.steps)
    trainer = Trainer(recipe, arguments.out, device)
    trainer.resume(arguments.start)
    if not trainer.run(arguments.stop_after):
        print(f"train: stopped at progress {trainer.progress:.3f}; the same command goes on", flush=True)
        raise SystemExit(UNFINISHED)
    print(f"train: finished after {trainer.step} steps, {trainer.elapsed:.0f} s", flush=True)


def with_schedule(recipe: Recipe, seconds: float | None, steps: int) -> Recipe:
    schedule = replace(recipe.schedule, seconds=seconds or recipe.schedule.seconds, steps=steps)
    return replace(recipe, schedule=schedule)


if __name__ == "__main__":
    main()
