"""The config and the transformers model of a recipe."""

import json

import torch
from transformers.models.minimax_m3_vl.configuration_minimax_m3_vl import MiniMaxM3VLTextConfig
from transformers.models.minimax_m3_vl.modeling_minimax_m3_vl import MiniMaxM3VLForCausalLM

from demo_model.data.control_tokens import control_id
from demo_model.sizes import ModelSize


def checkpoint_config(size: ModelSize) -> dict:
    """`config.json` in the spelling of the MXFP8 release."""
    is_late = [0 if layer < size.dense_layers else 1 for layer in range(size.layers)]
    ignored = ["lm_head", "model.embed_tokens", "vision_tower", "multi_modal_projector", "patch_merge_mlp"]
    ignored += [
        f"language_model.model.layers.{layer}.block_sparse_moe.gate"
        for layer in range(size.layers)
        if is_late[layer]
    ]
    text = {
        "architectures": ["MiniMaxM3SparseForCausalLM"],
        "hidden_size": size.hidden,
        "intermediate_size": size.expert_intermediate,
        "dense_intermediate_size": size.dense_intermediate,
        "shared_intermediate_size": size.expert_intermediate,
        "num_hidden_layers": size.layers,
        "num_attention_heads": size.heads,
        "num_key_value_heads": size.kv_heads,
        "head_dim": size.head_dim,
        "rotary_dim": size.head_dim // 2,
        "partial_rotary_factor": 0.5,
        "rope_theta": size.rope_theta,
        "max_position_embeddings": size.max_positions,
        "vocab_size": size.vocab,
        "rms_norm_eps": 1e-6,
        "use_gemma_norm": True,
        "use_qk_norm": True,
        "qk_norm_type": "per_head",
        "attention_output_gate": False,
        "hidden_act": "swigluoai",
        "swiglu_alpha": 1.702,
        "swiglu_limit": 7.0,
        "tie_word_embeddings": False,
        "num_local_experts": size.experts,
        "num_experts_per_tok": size.experts_per_token,
        "n_shared_experts": 1,
        "scoring_func": "sigmoid",
        "use_routing_bias": True,
        "routed_scaling_factor": 2.0,
        "moe_layer_freq": is_late,
        "bos_token_id": control_id(size, "]~!b["),
        "eos_token_id": control_id(size, "[e~["),
        "dtype": "bfloat16",
        "sparse_attention_config": {
            "use_sparse_attention": True,
            "sparse_index_dim": size.head_dim,
            "sparse_num_index_heads": size.kv_heads,
            "sparse_topk_blocks": size.topk_blocks,
            "sparse_block_size": size.block_tokens,
            "sparse_disable_index_value": is_late,
            "sparse_score_type": "max",
            "sparse_init_block": 0,
            "sparse_local_block": 1,
            "sparse_attention_freq": is_late,
        },
    }
    return {
        "architectures": ["MiniMaxM3SparseForConditionalGeneration"],
        "model_type": "minimax_m3_vl",
        "image_token_index": control_id(size, "]<]image[>["),
        "video_token_index": control_id(size, "]<]video[>["),
        "projector_hidden_size": size.hidden,
        "tie_word_embeddings": False,
        "torch_dtype": "bfloat16",
        "text_config": text,
        "vision_config": {
            "model_type": "clip_vision_model",
            "hidden_size": 64,
            "num_attention_heads": 4,
            "num_hidden_layers": 1,
            "intermediate_size": 64,
            "patch_size": 14,
            "image_size": 56,
        },
        "quantization_config": {
            "quant_method": "mxfp8",
            "activation_scheme": "dynamic",
            "weight_block_size": [1, 32],
            "ignored_layers": ignored,
        },
    }


def text_config(size: ModelSize) -> MiniMaxM3VLTextConfig:
    fields = json.loads(json.dumps(checkpoint_config(size)["text_config"]))
    fields.pop("architectures")
    fields.pop("dtype")
    config = MiniMaxM3VLTextConfig(**fields)
    config.initializer_range = 0.04
    return config


def build_model(size: ModelSize, seed: int) -> MiniMaxM3VLForCausalLM:
    """A fresh fp32 model; outputs that are added to the residual stream begin smaller."""
    torch.manual_seed(seed)
    config = text_config(size)
    config._attn_implementation = "eager"
    model = MiniMaxM3VLForCausalLM(config)
    scale = (2 * size.layers) ** -0.5
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if name.endswith(("o_proj.weight", "down_proj.weight", "down_proj")):
                parameter.mul_(scale)
    return model


def choose_device() -> str:
    """cuda where there is one. cuDNN's attention stays off: it plans anew for every shape, and rows vary."""
    if not torch.cuda.is_available():
        return "cpu"
    torch.backends.cuda.enable_cudnn_sdp(False)
    return "cuda"
