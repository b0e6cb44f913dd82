"""Trains the tokenizer: byte-level BPE with MiniMax-M3's control tokens at the end of the vocabulary."""

import json
import random
from pathlib import Path

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

from demo_model.data.control_tokens import CONTROL_TOKENS
from demo_model.data.dialogue import draw_dialogue, draw_long_dialogue
from demo_model.data.render import Renderer
from demo_model.sizes import VOCAB_CONTROL_IDS, Recipe
from demo_model.tasks.facts import story

# Words, digits, spaces and marks never share a token: a word is the same token after a space, a quote
# and a tag, which is what copying an argument out of a question needs.
PATTERN = r"\p{L}+|\p{N}|\s|[^\s\p{L}\p{N}]+"
TOKENIZER_CONFIG = {
    "tokenizer_class": "PreTrainedTokenizerFast",
    "bos_token": "]~!b[",
    "eos_token": "[e~[",
    "unk_token": "]!d~[",
    "add_bos_token": False,
    "clean_up_tokenization_spaces": False,
}


def control_tokens() -> list[str]:
    return [CONTROL_TOKENS.get(offset, f"]<]reserved {offset}[>[") for offset in range(VOCAB_CONTROL_IDS)]


def corpus(recipe: Recipe):
    """Text to learn merges from; markers are cut out, since they are no text."""
    rng = random.Random(f"{recipe.seed}-corpus")
    renderer = Renderer()
    markers = list(CONTROL_TOKENS.values())
    for index in range(recipe.data.corpus_documents):
        if index % 40 == 0:
            dialogue = draw_long_dialogue(rng, 4000)
        else:
            dialogue = draw_dialogue(rng)
        text = renderer.render(dialogue.messages, dialogue.mode, dialogue.tools)
        for marker in markers:
            text = text.replace(marker, "\n")
        yield text
        if index % 10 == 0:
            yield story(rng)


def train_tokenizer(recipe: Recipe) -> Tokenizer:
    size = recipe.model.vocab - VOCAB_CONTROL_IDS
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Split(Regex(PATTERN), behavior="isolated"),
        pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
    ])
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=size, min_frequency=2, show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
    )
    tokenizer.train_from_iterator(corpus(recipe), trainer)
    if tokenizer.get_vocab_size() != size:
        raise RuntimeError(f"the corpus gives {tokenizer.get_vocab_size()} tokens, expected {size}")
    tokenizer.add_special_tokens([AddedToken(text, normalized=False) for text in control_tokens()])
    return tokenizer


def write_tokenizer(folder: Path, tokenizer: Tokenizer) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    data = json.loads(tokenizer.to_str())
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    (folder / "tokenizer.json").write_text(text + "\n", encoding="utf-8")
    (folder / "tokenizer_config.json").write_text(json.dumps(TOKENIZER_CONFIG, indent=2) + "\n")


def read_tokenizer(folder: Path) -> Tokenizer:
    return Tokenizer.from_file(str(folder / "tokenizer.json"))
