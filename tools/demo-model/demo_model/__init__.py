"""Recipe of the demo model: data, tokenizer, training, evaluation and export. See ../README.md."""
