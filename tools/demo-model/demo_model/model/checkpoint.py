"""The shipped checkpoint: names and bytes of the MXFP8 release, two shards, and back again."""

import json
import shutil
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from demo_model.model.build import build_model, checkpoint_config
from demo_model.model.fake_quantize import BLOCK, dequantize_mxfp8, quantize_mxfp8
from demo_model.data.control_tokens import control_id
from demo_model.data.render import TEMPLATE
from demo_model.sizes import ModelSize

SHARDS = 2
_PREFIX = "language_model."


def release_tensors(model: torch.nn.Module) -> dict[str, Tensor]:
    """fp32 tensors under the names of the release, experts and gate/up apart."""
    tensors: dict[str, Tensor] = {}
    for name, tensor in model.state_dict().items():
        tensor = tensor.detach().float().cpu()
        name = _PREFIX + name
        if ".mlp." in name and ".mlp.gate_up_proj" not in name and ".mlp.down_proj" not in name:
            name = name.replace(".mlp.", ".block_sparse_moe.")
        name = name.replace(".gate.e_score_correction_bias", ".e_score_correction_bias")
        name = name.replace(".indexer.", ".index_")
        if name.endswith("experts.gate_up_proj"):
            for expert, both in enumerate(tensor):
                gate, up = both.chunk(2)
                base = name.removesuffix("gate_up_proj") + str(expert)
                tensors[f"{base}.w1.weight"], tensors[f"{base}.w3.weight"] = gate, up
        elif name.endswith("experts.down_proj"):
            for expert, down in enumerate(tensor):
                tensors[f"{name.removesuffix('down_proj')}{expert}.w2.weight"] = down
        elif name.endswith("gate_up_proj.weight"):
            gate, up = tensor.chunk(2)
            tensors[name.replace("gate_up_proj", "gate_proj")] = gate
            tensors[name.replace("gate_up_proj", "up_proj")] = up
        else:
            tensors[name] = tensor
    return tensors


def is_quantized(name: str, tensor: Tensor) -> bool:
    outside = ("embed_tokens", "lm_head", "block_sparse_moe.gate.")
    return tensor.ndim == 2 and tensor.shape[1] % BLOCK == 0 and not any(part in name for part in outside)


def stored_tensors(model: torch.nn.Module) -> dict[str, Tensor]:
    """What the files hold: E4M3 with E8M0 scales, bf16, and fp32 for the router."""
    stored: dict[str, Tensor] = {}
    for name, tensor in release_tensors(model).items():
        if is_quantized(name, tensor):
            stored[name], stored[f"{name}_scale_inv"] = quantize_mxfp8(tensor.contiguous())
        elif "block_sparse_moe.gate." in name or "e_score_correction_bias" in name:
            stored[name] = tensor.contiguous()
        else:
            stored[name] = tensor.to(torch.bfloat16).contiguous()
    return stored


def write_checkpoint(model: torch.nn.Module, size: ModelSize, tokenizer: Path, folder: Path) -> None:
    """Writes a folder that Altstream and transformers load. `tokenizer`: folder of tokenizer.json."""
    folder.mkdir(parents=True, exist_ok=True)
    stored = stored_tensors(model)
    total = sum(tensor.nbytes for tensor in stored.values())
    shards: list[dict[str, Tensor]] = [{} for _ in range(SHARDS)]
    filled = 0
    for name in sorted(stored):
        shards[min(SHARDS - 1, filled * SHARDS // total)][name] = stored[name]
        filled += stored[name].nbytes
    weight_map = {}
    for number, shard in enumerate(shards, start=1):
        file = f"model-{number:05d}-of-{SHARDS:05d}.safetensors"
        save_file(shard, folder / file, metadata={"format": "pt"})
        (folder / file).chmod(0o644)
        weight_map |= dict.fromkeys(shard, file)
    index = {"metadata": {"total_size": total}, "weight_map": weight_map}
    _write_json(folder / "model.safetensors.index.json", index)
    _write_json(folder / "config.json", checkpoint_config(size))
    _write_json(folder / "generation_config.json", {
        "bos_token_id": control_id(size, "]~!b["), "eos_token_id": control_id(size, "[e~["),
        "do_sample": True, "temperature": 0.1, "top_p": 0.95, "top_k": 40,
    })
    for file in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copyfile(tokenizer / file, folder / file)
    shutil.copyfile(TEMPLATE, folder / "chat_template.jinja")


def _write_json(path: Path, value: dict) -> None:
    path.write_text(json.dumps(value, indent=2) + "\n", encoding="utf-8")


def read_stored(folder: Path) -> dict[str, Tensor]:
    index = json.loads((folder / "model.safetensors.index.json").read_text())
    stored: dict[str, Tensor] = {}
    for file in sorted(set(index["weight_map"].values())):
        stored |= load_file(folder / file)
    return stored


def read_checkpoint(folder: Path, size: ModelSize) -> torch.nn.Module:
    """The checkpoint as an fp32 model of transformers; MXFP8 widened exactly."""
    stored = read_stored(folder)
    wide = {
        name: dequantize_mxfp8(tensor, stored[f"{name}_scale_inv"]) if f"{name}_scale_inv" in stored
        else tensor.float()
        for name, tensor in stored.items() if not name.endswith("_scale_inv")
    }
    model = build_model(size, seed=0).eval()
    state = {name: _gather(name, shape.shape, wide) for name, shape in model.state_dict().items()}
    model.load_state_dict(state)
    if wide:
        raise ValueError(f"tensors without a place: {sorted(wide)[:5]}")
    return model


def _gather(name: str, shape: torch.Size, wide: dict[str, Tensor]) -> Tensor:
    """The tensor that transformers calls `name`, taken out of `wide`."""
    path = _PREFIX + name
    if path in wide:
        return wide.pop(path)
    path = path.replace(".mlp.gate.e_score", ".block_sparse_moe.e_score").replace(".indexer.", ".index_")
    moe = path.replace(".mlp.", ".block_sparse_moe.")
    if name.endswith("experts.gate_up_proj"):
        base = moe.removesuffix("gate_up_proj")
        return torch.stack([torch.cat([wide.pop(f"{base}{e}.w1.weight"), wide.pop(f"{base}{e}.w3.weight")])
                            for e in range(shape[0])])
    if name.endswith("experts.down_proj"):
        base = moe.removesuffix("down_proj")
        return torch.stack([wide.pop(f"{base}{e}.w2.weight") for e in range(shape[0])])
    if name.endswith("gate_up_proj.weight"):
        real = moe if moe.replace("gate_up_proj", "gate_proj") in wide else path
        return torch.cat([wide.pop(real.replace("gate_up_proj", part)) for part in ("gate_proj", "up_proj")])
    return wide.pop(path if path in wide else moe)
