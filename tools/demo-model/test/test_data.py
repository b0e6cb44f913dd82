"""Training never sees the suite; shards repeat; the loss counts what the assistant says, and nothing else."""

import random
import tempfile
import unittest
from collections import Counter
from pathlib import Path

import numpy as np

from demo_model.answers import is_right, read_answer
from demo_model.data.dialogue import MIXTURE, answer_messages, draw_dialogue
from demo_model.data.render import Encoder, Renderer
from demo_model.data.shards import ShardMaker
from demo_model.data.suite import PROMPTS_PER_SKILL, make_suite, read_suite, user_texts
from demo_model.data.vocabulary import read_tokenizer, train_tokenizer, write_tokenizer
from demo_model.sizes import SMOKE
from demo_model.tasks.example import MODES, draw, is_held_out

SUITE = Path(__file__).parents[3] / "packages/minimax-m3-tiny/eval/demo.jsonl"


class DataTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = Path(cls.temporary.name)
        write_tokenizer(cls.folder, train_tokenizer(SMOKE))
        cls.tokenizer = read_tokenizer(cls.folder)
        cls.renderer, cls.encoder = Renderer(), Encoder(cls.tokenizer)

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def test_the_stored_suite_is_the_one_that_the_code_makes(self):
        suite = make_suite()
        self.assertEqual(read_suite(SUITE), suite)
        self.assertEqual(set(Counter(p["skill"] for p in suite).values()), {PROMPTS_PER_SKILL})

    def test_no_training_question_is_in_the_suite(self):
        forbidden, rng = user_texts(make_suite()), random.Random(1)
        for _ in range(3000):
            for message in draw_dialogue(rng).messages:
                self.assertFalse(message["role"] == "user" and message["content"] in forbidden)

    def test_every_maker_makes_both_sides_of_the_split(self):
        for maker in MIXTURE:
            for held_out in (True, False):
                self.assertEqual(is_held_out(draw(random.Random(2), maker, held_out).key), held_out)

    def test_a_shard_is_the_same_every_time(self):
        first, again = (ShardMaker(SMOKE, self.folder).shard("short", 3) for _ in range(2))
        other = ShardMaker(SMOKE, self.folder).shard("short", 4)
        self.assertTrue(all(np.array_equal(first[name], again[name]) for name in first))
        self.assertFalse(np.array_equal(first["ids"][:500], other["ids"][:500]))

    def test_the_loss_counts_the_words_of_the_assistant_and_the_end_of_its_turn(self):
        messages = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello!"},
                    {"role": "user", "content": "ai\nBye"}, {"role": "assistant", "content": "Goodbye!"}]
        ids, said = self.encoder.dialogue(self.renderer.render(messages, "disabled"))
        spoken = self.tokenizer.decode(ids[said == 1].tolist(), skip_special_tokens=False)
        self.assertEqual(spoken, "</mm:think>Hello![e~[</mm:think>Goodbye![e~[")

        _, said = self.encoder.dialogue(self.renderer.render(messages, "disabled"), frozenset([0]))
        spoken = self.tokenizer.decode(ids[said == 1].tolist(), skip_special_tokens=False)
        self.assertEqual(spoken, "</mm:think>Goodbye![e~[")

    def test_an_answer_without_its_thoughts_is_never_taught_where_thinking_is_on(self):
        rng, forgotten = random.Random(3), 0
        for _ in range(400):
            dialogue = draw_dialogue(rng)
            answers = [m for m in dialogue.messages if m["role"] == "assistant"]
            for index, answer in enumerate(answers):
                if dialogue.mode == "enabled" and "reasoning_content" not in answer:
                    forgotten += 1
                    self.assertIn(index, dialogue.muted)
            self.assertNotIn(len(answers) - 1, dialogue.muted)
        self.assertGreater(forgotten, 10)

    def test_the_right_answer_of_every_maker_passes_its_own_check(self):
        rng = random.Random(5)
        for maker in MIXTURE:
            for index in range(60):
                turn, mode = draw(rng, maker, held_out=False), MODES[index % 3]
                answer = answer_messages(turn, mode)[0]
                tools = [tool.schema(False) for tool in turn.needs] or None
                question = [{"role": "user", "content": turn.user}]
                prompt = self.renderer.render(question, mode, tools, add_generation_prompt=True)
                whole = self.renderer.render([*question, answer], mode, tools)
                self.assertTrue(whole.startswith(prompt))
                read = read_answer(whole[len(prompt) :].rstrip("\n"), mode, tools)
                if turn.skill == "tool_calls":
                    self.assertEqual(read["calls"], turn.calls)
                else:
                    self.assertTrue(is_right(turn.check, read), (turn.check, read))
                self.assertEqual(bool(read["reasoning"]), mode == "enabled" or (mode == "adaptive" and turn.thinks))

    def test_wrong_answers_fail(self):
        check = {"type": "regex", "value": "(^|[^0-9.])68[.]?$"}
        for text in ("</mm:think>23 + 45 = 168[e~[", "</mm:think>23 + 45 = 68", "</mm:think>68 is 23 + 45[e~["):
            self.assertFalse(is_right(check, read_answer(text, "adaptive", None)), text)
        self.assertTrue(is_right(check, read_answer("</mm:think>23 + 45 = 68[e~[", "adaptive", None)))


if __name__ == "__main__":
    unittest.main()
