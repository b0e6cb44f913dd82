"""The trained forward pass is transformers' function, row by row and token by token."""

import unittest
from dataclasses import replace

import torch

from demo_model.model.build import build_model
from demo_model.model.fake_quantize import dequantize_mxfp8, quantize_mxfp8
from demo_model.model.network import FastNetwork, Mode, Taps
from demo_model.sizes import SMOKE

SIZE = replace(SMOKE.model, topk_blocks=2, block_tokens=16)
TOLERANCE = 1e-4


def random_model():
    """Large random weights and biases, so that every branch shows in the logits."""
    model = build_model(SIZE, seed=7)
    generator = torch.Generator().manual_seed(3)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            spread = 0.3 if "norm" in name else 0.1
            parameter.copy_(torch.randn(parameter.shape, generator=generator) * spread)
        for layer in model.model.layers[SIZE.dense_layers :]:
            bias = layer.mlp.gate.e_score_correction_bias
            bias.copy_(torch.randn(bias.shape, generator=generator) * 0.2)
    return model.eval()


class NetworkTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.model = random_model()
        cls.ids = torch.randint(0, SIZE.vocab, (2, 150), generator=torch.Generator().manual_seed(1))
        with torch.no_grad():
            cls.expected = cls.model(cls.ids).logits

    def logits(self, mode):
        fast = FastNetwork(self.model)
        with torch.no_grad():
            return fast.logits(fast.hidden_states(self.ids, mode))

    def test_equals_transformers_with_sparse_attention(self):
        worst = (self.logits(Mode(sparse=True)) - self.expected).abs().max().item()
        self.assertLess(worst, TOLERANCE)

    def test_dense_attention_differs_only_where_blocks_are_dropped(self):
        difference = (self.logits(Mode(sparse=False)) - self.expected).abs().amax((0, 2))
        reach = SIZE.dense_reach
        self.assertLess(difference[:reach].max().item(), TOLERANCE)
        self.assertGreater(difference[reach:].max().item(), 100 * TOLERANCE)

    def test_only_the_indexer_learns_from_the_choice_of_blocks_and_from_nothing_else(self):
        fast, taps = FastNetwork(self.model), Taps()
        valid = torch.ones_like(self.ids, dtype=torch.bool)
        hidden = fast.hidden_states(self.ids, Mode(sparse=True, distill=True, queries=16), taps, valid)
        gradients = {}
        for name, loss in (("index", sum(taps.index_loss)), ("text", fast.logits(hidden).square().mean())):
            self.model.zero_grad(set_to_none=True)
            loss.backward(retain_graph=True)
            gradients[name] = {n for n, p in self.model.named_parameters() if p.grad is not None}
        self.model.zero_grad(set_to_none=True)
        everything = {n for n, _ in self.model.named_parameters()}
        indexer = {n for n in everything if ".indexer." in n}
        self.assertEqual(gradients["index"], indexer)
        self.assertEqual(gradients["text"], everything - indexer)

    def test_counts_every_routed_token_once_for_each_of_its_experts(self):
        taps, valid = Taps(), torch.ones_like(self.ids, dtype=torch.bool)
        valid[1, 100:] = False
        with torch.no_grad():
            FastNetwork(self.model).hidden_states(self.ids, Mode(sparse=True), taps, valid)
        for counts in taps.expert_counts:
            self.assertEqual(int(counts.sum()), int(valid.sum()) * SIZE.experts_per_token)

    def test_mxfp8_follows_the_specified_bytes(self):
        block = torch.zeros(1, 32)
        block[0, :4] = torch.tensor([449, 1, -3.3, 0.01])
        elements, scales = quantize_mxfp8(block)
        self.assertEqual(scales.tolist(), [[128]])
        self.assertEqual(elements.view(torch.uint8)[0, :4].tolist(), [0x76, 0x30, 0xBD, 0x03])
        again = quantize_mxfp8(dequantize_mxfp8(elements, scales))
        self.assertTrue(torch.equal(dequantize_mxfp8(*again), dequantize_mxfp8(elements, scales)))
        block[0, :4] = torch.tensor([1, -0.5, 0.3, 7])
        elements, scales = quantize_mxfp8(block)
        self.assertEqual(scales.tolist(), [[121]])
        self.assertEqual(elements.view(torch.uint8)[0, :4].tolist(), [0x68, 0xE0, 0x5A, 0x7E])


if __name__ == "__main__":
    unittest.main()
