"""What is written is what is read, by us and by transformers' own loader; decoding is the forward pass."""

import shutil
import tempfile
import unittest
from pathlib import Path

import torch
from transformers import AutoModelForImageTextToText

from demo_model.model.checkpoint import is_quantized, read_checkpoint, release_tensors, stored_tensors, write_checkpoint
from demo_model.model.decode import Decoder
from demo_model.model.network import FastNetwork, Mode

from .test_network import SIZE, TOLERANCE, random_model


class CheckpointTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(tempfile.mkdtemp(prefix="demo-model-"))
        for file in ("tokenizer.json", "tokenizer_config.json"):
            (cls.folder / file).write_text("{}")
        cls.model = random_model()
        write_checkpoint(cls.model, SIZE, cls.folder, cls.folder / "model")
        cls.read = read_checkpoint(cls.folder / "model", SIZE)
        cls.ids = torch.randint(0, SIZE.vocab, (1, 90), generator=torch.Generator().manual_seed(5))

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def test_names_are_those_of_the_release(self):
        stored = stored_tensors(self.model)
        layer = "language_model.model.layers.2."
        for name in ("self_attn.index_q_proj.weight_scale_inv", "self_attn.index_k_norm.weight",
                     "block_sparse_moe.experts.15.w3.weight_scale_inv", "block_sparse_moe.gate.weight",
                     "block_sparse_moe.e_score_correction_bias",
                     "block_sparse_moe.shared_experts.down_proj.weight_scale_inv"):
            self.assertIn(layer + name, stored)
        self.assertIn("language_model.model.layers.0.mlp.gate_proj.weight_scale_inv", stored)
        self.assertEqual(stored["language_model.lm_head.weight"].dtype, torch.bfloat16)
        self.assertEqual(stored[layer + "block_sparse_moe.gate.weight"].dtype, torch.float32)
        self.assertEqual(stored[layer + "self_attn.q_proj.weight"].dtype, torch.float8_e4m3fn)
        self.assertEqual(stored[layer + "self_attn.q_proj.weight_scale_inv"].dtype, torch.uint8)

    def test_reads_what_was_written_within_the_formats(self):
        again = release_tensors(self.read)
        for name, tensor in release_tensors(self.model).items():
            # E4M3 has three bits behind the first, bf16 seven; small elements lose more.
            allowed = tensor.abs().amax() * (2**-4 if is_quantized(name, tensor) else 2**-8)
            self.assertLessEqual((again[name] - tensor).abs().max(), allowed, name)

    def test_transformers_loads_the_folder_to_the_same_logits(self):
        # MXFP8 values are exact in bf16, which transformers widens them to; it keeps the router in fp32.
        loaded = AutoModelForImageTextToText.from_pretrained(
            self.folder / "model", dtype=torch.bfloat16, attn_implementation="eager")
        with torch.no_grad():
            expected = self.read(self.ids).logits
            actual = loaded.float().eval()(input_ids=self.ids).logits
        self.assertLess((actual - expected).abs().max().item(), TOLERANCE)

    def test_decoding_step_by_step_gives_the_tokens_of_the_forward_pass(self):
        network, mode = FastNetwork(self.read), Mode(sparse=True)
        prompts = [self.ids[0, :70].tolist(), self.ids[0, 5:30].tolist()]
        outputs = Decoder(network, mode, end_id=-1).generate(prompts, 6, "cpu")
        for prompt, output in zip(prompts, outputs):
            ids = list(prompt)
            for token in output:
                with torch.no_grad():
                    logits = self.read(torch.tensor([ids])).logits[0, -1]
                self.assertEqual(int(logits.argmax()), token)
                ids.append(token)


if __name__ == "__main__":
    unittest.main()
