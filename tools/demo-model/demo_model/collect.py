"""Puts the result of a run in place: weights, tokenizer, model card and goldens of minimax-m3-tiny."""

import argparse
import json
import shutil
import tarfile
import tempfile
from pathlib import Path

from demo_model.card import write_card
from demo_model.evaluate import answer
from demo_model.goldens import write_goldens
from demo_model.model.build import choose_device
from demo_model.sizes import RECIPES

REPOSITORY = Path(__file__).parents[3]
PACKAGE = REPOSITORY / "packages/minimax-m3-tiny"


def unpack(run: Path, into: Path) -> Path:
    """The folder of a run as `run-all.sh` packs it, or as it lies on the machine that ran it."""
    if (run / "exported.json").exists():
        return run
    with tarfile.open(run / "run.tar.gz") as archive:
        archive.extractall(into, filter="data")
    for shard in run.glob("*.safetensors"):
        shutil.copyfile(shard, into / "model" / shard.name)
    return into


def collect(run: Path, package: Path) -> None:
    with tempfile.TemporaryDirectory() as temporary:
        out = unpack(run, Path(temporary))
        recipe = RECIPES[json.loads((out / "exported.json").read_text())["recipe"]]
        if not (out / "evaluation.json").exists():  # the run ended before its answers
            answer(recipe, out, choose_device())
        package.mkdir(parents=True, exist_ok=True)
        for file in (out / "model").iterdir():
            shutil.copyfile(file, package / file.name)
        write_card(recipe, out, package / "MODEL_CARD.md")
        shutil.rmtree(package / "training", ignore_errors=True)
        logs = ("evaluation.json", "train.jsonl", "stages.log", "data.log")
        for file in [*logs, *(f"first/{name}" for name in logs)]:
            if (out / file).exists():
                (package / "training" / file).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(out / file, package / "training" / file)
        write_goldens(recipe, out, package / "goldens" / "goldens.json")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("run", type=Path, help="folder with the files of run-all.sh, or its --work folder")
    parser.add_argument("--package", type=Path, default=PACKAGE, help="folder to fill")
    arguments = parser.parse_args()
    collect(arguments.run, arguments.package)
    print(f"collected into {arguments.package}")


if __name__ == "__main__":
    main()
