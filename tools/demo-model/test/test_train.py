"""Steps of every stage run on the device that there is, at the real size where it is a GPU."""

import tempfile
import unittest
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch

from demo_model.data.batches import rows_to_batch
from demo_model.model.build import choose_device
from demo_model.model.network import FastNetwork, Mode
from demo_model.sizes import FULL, SMOKE
from demo_model.train import Trainer, weighted_loss


class TrainTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.device = choose_device()
        recipe = FULL if cls.device == "cuda" else SMOKE
        cls.recipe = replace(recipe, schedule=replace(recipe.schedule, steps=1000))
        rng = np.random.default_rng(1)
        vocab, reach = recipe.model.vocab, recipe.model.dense_reach

        def batch(lengths):
            rows = [(rng.integers(0, vocab, n).astype(np.uint16), rng.integers(0, 3, n).astype(np.uint8))
                    for n in lengths]
            return rows_to_batch(rows, 0.1, cls.device)

        cls.short, cls.long = batch([reach // 4, reach // 3]), batch([reach * 2, reach * 2 - 70])

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def test_steps_of_every_stage_change_the_weights_and_keep_them_finite(self):
        trainer = Trainer(self.recipe, Path(self.temporary.name), self.device)
        schedule = self.recipe.schedule
        for share in (0.0, schedule.long_from, schedule.sparse_from, schedule.quantized_from):
            trainer.step = int(schedule.steps * share) + 1
            before = trainer.model.lm_head.weight.detach().clone()
            trainer.train_step(self.short, False)
            if share > 0:
                trainer.train_step(self.long, True)
            self.assertFalse(torch.equal(before, trainer.model.lm_head.weight))
            self.assertEqual(trainer.skipped, 0)
        for name, parameter in trainer.model.named_parameters():
            self.assertTrue(bool(torch.isfinite(parameter).all()), name)
        biases = [layer.mlp.gate.e_score_correction_bias for layer in trainer.model.model.layers[1:]]
        self.assertTrue(all(float(bias.abs().max()) > 0 for bias in biases))

    def test_bf16_has_the_loss_of_fp32_about(self):
        network = FastNetwork(Trainer(self.recipe, Path(self.temporary.name), self.device).model)
        for batch in (self.short, self.long):
            losses = []
            for enabled in (True, False):
                with torch.no_grad(), torch.autocast(self.device, dtype=torch.bfloat16, enabled=enabled):
                    hidden = network.hidden_states(batch.ids, Mode(sparse=True), None, batch.valid)
                    losses.append(float(weighted_loss(network, hidden, batch)))
            self.assertAlmostEqual(losses[0], losses[1], delta=0.02 * losses[1])

    def test_a_run_goes_on_from_its_checkpoint(self):
        trainer = Trainer(self.recipe, Path(self.temporary.name), self.device)
        trainer.train_step(self.short, False)
        trainer.save()
        again = Trainer(self.recipe, Path(self.temporary.name), self.device)
        again.resume()
        self.assertEqual(again.step, 1)
        for one in (trainer, again):
            one.train_step(self.short, False)
        difference = (trainer.model.lm_head.weight - again.model.lm_head.weight).detach().abs().max()
        self.assertLess(float(difference), 1e-4)


if __name__ == "__main__":
    unittest.main()
