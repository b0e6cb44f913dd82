"""Tokenizer, then training data. Every part that is there already is kept."""

import argparse
import sys
import time
from pathlib import Path

from demo_model.data.shards import make_shards
from demo_model.sizes import RECIPES
from demo_model.data.vocabulary import train_tokenizer, write_tokenizer


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", choices=["tokenizer", "shards"])
    parser.add_argument("--recipe", choices=RECIPES, default="full")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--processes", type=int, default=1)
    arguments = parser.parse_args()
    recipe = RECIPES[arguments.recipe]
    if arguments.part == "shards":
        make_shards(recipe, arguments.out, arguments.processes)
        return
    if (arguments.out / "tokenizer.json").exists():
        return
    started = time.time()
    write_tokenizer(arguments.out, train_tokenizer(recipe))
    print(f"tokenizer: {recipe.model.vocab} ids, {time.time() - started:.1f} s", file=sys.stderr)


if __name__ == "__main__":
    main()
