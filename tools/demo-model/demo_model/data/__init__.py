"""Dialogues, tokenizer, training shards and the held-out suite."""
