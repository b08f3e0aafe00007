# SPDX-License-Identifier: BSL-1.0
"""Exports models of Hugging Face's transformers, small and with random weights, by both of PyTorch's exporters.

    exported_models.py FOLDER [NAME...]

Each becomes FOLDER/NAME-EXPORTER.onnx, with what it is run on in FOLDER/NAME-EXPORTER.io/input_K.pb, as beside the models in tests/models. A
model that is there already stays. What an exporter does not take is told, and left out.

script14, script17   the TorchScript exporter at these operator sets, of attention as transformers writes it and as PyTorch's operator
export18, export20   the torch.export based exporter, of the same
cache17, cache18     both, of a decoder behind a cache
"""
import argparse
import contextlib
import io
import logging
import pathlib
import warnings

warnings.filterwarnings("ignore")
logging.disable(logging.CRITICAL)

import onnx
import torch
from transformers import AutoConfig, AutoModel, DynamicCache

# exporter: the implementation of attention, whether it is based on torch.export, the operator set, whether there is a cache.
EXPORTERS = {
    "script14": ("eager", False, 14, False), "script17": ("sdpa", False, 17, False), "export18": ("eager", True, 18, False),
    "export20": ("sdpa", True, 20, False), "cache17": ("eager", False, 17, True), "cache18": ("sdpa", True, 18, True),
}  # fmt: skip

# Two layers of 4 heads, as the configurations of families of models call them.
BASE = {"vocab_size": 99, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
BERT = BASE | {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64, "max_position_embeddings": 64}
GROUPED = BERT | {"num_key_value_heads": 2, "head_dim": 8}
SLIDING = GROUPED | {"sliding_window": 8}
GPT2 = BASE | {"n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 64}
BART = BASE | {"d_model": 32, "encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 4, "decoder_attention_heads": 4, "encoder_ffn_dim": 64,
               "decoder_ffn_dim": 64, "max_position_embeddings": 64, "decoder_start_token_id": 1, "forced_eos_token_id": 2}  # fmt: skip
T5 = BASE | {"d_model": 32, "d_kv": 8, "d_ff": 64, "num_layers": 2, "num_heads": 4, "decoder_start_token_id": 0, "relative_attention_num_buckets": 8}
VIT = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64, "image_size": 32, "patch_size": 8}
SWIN = {"image_size": 32, "patch_size": 4, "embed_dim": 16, "depths": [2, 2], "num_heads": [2, 4], "window_size": 4}
STAGES = {"hidden_sizes": [8, 16, 32, 32], "depths": [1, 1, 1, 1], "image_size": 64}
WAVES = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64, "conv_dim": [16, 16], "conv_kernel": [10, 3],
         "conv_stride": [5, 2], "num_conv_pos_embeddings": 16, "num_conv_pos_embedding_groups": 2}  # fmt: skip
EMBEDDED = BERT | {"embedding_size": 16}
RELATIVE = BERT | {"relative_attention": True, "pos_att_type": ["c2p", "p2c"]}

# What a model reads: its configurations by the types that transformers knows.
ENCODERS = {
    "bert": BERT, "roberta": BERT, "albert": EMBEDDED, "electra": EMBEDDED, "mpnet": BERT, "layoutlm": BERT, "ernie": BERT, "roformer": BERT,
    "convbert": EMBEDDED, "nystromformer": BERT, "deberta": RELATIVE, "deberta-v2": RELATIVE, "megatron-bert": BERT, "eurobert": GROUPED,
    "distilbert": BASE | {"dim": 32, "n_layers": 2, "n_heads": 4, "hidden_dim": 64, "max_position_embeddings": 64},
    "modernbert": BERT | {"global_attn_every_n_layers": 2, "local_attention": 8},
    "esm": BERT | {"position_embedding_type": "rotary", "mask_token_id": 3, "token_dropout": False},
    "mobilebert": EMBEDDED | {"intra_bottleneck_size": 16, "true_hidden_size": 16},
    "xlnet": BASE | {"d_model": 32, "n_layer": 2, "n_head": 4, "d_inner": 64},
    "squeezebert": BERT | {"embedding_size": 32} | {f"{part}_groups": 1 for part in ("q", "k", "v", "post_attention", "intermediate", "output")},
}  # fmt: skip
DECODERS = {
    "gpt2": GPT2, "gptj": GPT2 | {"rotary_dim": 4}, "codegen": GPT2 | {"rotary_dim": 4}, "gpt_bigcode": GPT2, "gpt_neox": BERT | {"rotary_pct": 0.5},
    "gpt_neox_japanese": BERT, "biogpt": BERT, "phi": BERT, "persimmon": BERT, "llama": GROUPED, "mistral": SLIDING, "qwen2": GROUPED, "qwen3": GROUPED,
    "gemma": GROUPED, "gemma2": SLIDING | {"query_pre_attn_scalar": 8}, "gemma3_text": SLIDING | {"query_pre_attn_scalar": 8}, "phi3": GROUPED,
    "stablelm": GROUPED, "olmo": GROUPED, "olmo2": GROUPED, "starcoder2": GROUPED, "granite": GROUPED, "smollm3": GROUPED, "nemotron": GROUPED,
    "arcee": GROUPED, "apertus": GROUPED, "bitnet": GROUPED, "exaone4": SLIDING, "hunyuan_v1_dense": GROUPED, "seed_oss": GROUPED,
    "falcon": BERT | {"multi_query": True, "new_decoder_architecture": False, "alibi": False},
    "bloom": BASE | {"hidden_size": 32, "n_layer": 2, "n_head": 4}, "mpt": BASE | {"d_model": 32, "n_layers": 2, "n_heads": 4, "max_seq_len": 64},
    "gpt_neo": BASE | {"hidden_size": 32, "num_layers": 2, "num_heads": 4, "attention_types": [[["global", "local"], 1]], "max_position_embeddings": 64,
                       "window_size": 8},
    "opt": BASE | {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "ffn_dim": 64, "max_position_embeddings": 64, "word_embed_proj_dim": 32},
    "xglm": BASE | {"d_model": 32, "num_layers": 2, "attention_heads": 4, "ffn_dim": 64, "max_position_embeddings": 64},
}  # fmt: skip
PAIRS = {"bart": BART, "mbart": BART, "pegasus": BART, "marian": BART, "blenderbot": BART, "m2m_100": BART, "t5": T5, "umt5": T5,
         "mt5": T5 | {"feed_forward_proj": "gated-gelu"}, "longt5": T5}  # fmt: skip
IMAGES = {
    "vit": VIT, "deit": VIT, "beit": VIT, "dinov2": VIT, "dinov3_vit": VIT, "siglip_vision_model": VIT, "clip_vision_model": VIT, "vitdet": VIT,
    "yolos": VIT | {"image_size": [32, 32], "num_detection_tokens": 4}, "swin": SWIN, "swinv2": SWIN, "convnext": STAGES, "convnextv2": STAGES,
    "resnet": STAGES | {"embedding_size": 8}, "regnet": STAGES | {"embedding_size": 8, "groups_width": 8}, "mobilenet_v2": {"image_size": 32},
    "bit": STAGES | {"embedding_size": 8, "num_groups": 4}, "poolformer": STAGES, "focalnet": {"image_size": 32, "embed_dim": 16, "depths": [1, 1]},
    "pvt": STAGES | {"image_size": 32, "hidden_sizes": [16, 16, 32, 32], "num_attention_heads": [1, 2, 2, 4]},
    "levit": {"image_size": 64, "hidden_sizes": [32, 48, 64], "num_attention_heads": [2, 3, 4], "depths": [1, 1, 1], "key_dim": [8, 8, 8]},
    "mobilevit": {"image_size": 64, "hidden_sizes": [16, 24, 32], "neck_hidden_sizes": [8, 8, 8, 8, 8, 8, 16]},
    "segformer": {"num_encoder_blocks": 2, "depths": [1, 1], "sr_ratios": [2, 1], "hidden_sizes": [16, 32], "patch_sizes": [7, 3], "strides": [4, 2],
                  "num_attention_heads": [2, 4], "mlp_ratios": [2, 2], "image_size": 64},
}  # fmt: skip
SOUNDS = {"wav2vec2": WAVES, "hubert": WAVES, "wav2vec2-conformer": WAVES | {"position_embeddings_type": "rotary"}}
MODELS = {name: (kind, made) for kind, all in (("tokens", ENCODERS), ("decoder", DECODERS), ("pair", PAIRS), ("image", IMAGES), ("sound", SOUNDS))
          for name, made in all.items()}  # fmt: skip


def made(name, attention):
    """In evaluation mode, with weights large enough that no part of it goes under, and scales, biases and statistics that are random."""
    model = AutoModel.from_config(AutoConfig.for_model(name, **MODELS[name][1], use_cache=False), attn_implementation=attention).eval()
    with torch.no_grad():
        for weights in model.parameters():
            if weights.dim() == 1:
                weights.add_(torch.randn_like(weights) * 0.1)
            else:
                weights.mul_(3)
        for called, held in model.named_buffers():
            if called.endswith("running_mean"):
                held.normal_(0, 0.1)
            if called.endswith("running_var"):
                held.uniform_(0.5, 1.5)
    return model


class Called(torch.nn.Module):
    """A model of tensors that gives tensors."""

    def __init__(self, model, names):
        super().__init__()
        self.model, self.names = model, names

    def forward(self, *given):
        by_name = dict(zip(self.names, given))
        past = [by_name.pop(name) for name in self.names if name.startswith("past")]
        if not past:
            return self.model(**by_name)[0]
        cache = DynamicCache(config=self.model.config)
        for layer, (keys, values) in enumerate(zip(past[::2], past[1::2])):
            cache.update(keys, values, layer)
        first = self.model(**by_name, past_key_values=cache, use_cache=True)[0]
        return first, *(each for layer in cache.layers for each in (layer.keys, layer.values))


def inputs_of(kind, model, cache):
    """Tensors by name, and the axes that have a name."""
    tokens, known = torch.randint(3, 90, (2, 7)), torch.ones(2, 7, dtype=torch.int64)
    of_tokens = {0: "batch", 1: "tokens"}
    if cache:
        config = model.config
        heads = getattr(config, "num_key_value_heads", None) or config.num_attention_heads
        shape = 2, heads, 5, getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
        past = {f"past{i}": torch.randn(shape) for i in range(2 * config.num_hidden_layers)}
        axes = {"input_ids": of_tokens, "attention_mask": {0: "batch", 1: "all"}} | {name: {0: "batch", 2: "past"} for name in past}
        return {"input_ids": tokens[:, :2], "attention_mask": known} | past, axes
    if kind == "image":
        size = getattr(model.config, "image_size", 64)
        return {"pixel_values": torch.randn(2, 3, *([size] * 2 if isinstance(size, int) else size))}, {"pixel_values": {0: "batch"}}
    if kind == "sound":
        return {"input_values": torch.randn(2, 400)}, {"input_values": {0: "batch", 1: "samples"}}
    known[1, 5:] = 0
    given, axes = {"input_ids": tokens, "attention_mask": known}, {"input_ids": of_tokens, "attention_mask": of_tokens}
    if kind == "pair":
        given["decoder_input_ids"], axes["decoder_input_ids"] = torch.randint(3, 90, (2, 5)), {0: "batch", 1: "decoded"}
    return given, axes


def export(name, exporter, folder):
    attention, by_export, opset, cache = EXPORTERS[exporter]
    torch.manual_seed(1)
    model = made(name, attention)
    given, axes = inputs_of(MODELS[name][0], model, cache)
    called, values, names = Called(model, list(given)).eval(), tuple(given.values()), list(given)
    path = folder / f"{name}-{exporter}.onnx"
    if by_export:
        extents = tuple({axis: torch.export.Dim.DYNAMIC for axis in axes[each]} for each in names)
        written = torch.onnx.export(called, values, input_names=names, opset_version=opset, dynamic_shapes=(extents,), dynamo=True, verbose=False)
        written.save(str(path), external_data=False)
    else:
        torch.onnx.export(called, values, str(path), input_names=names, opset_version=opset, dynamic_axes=axes, dynamo=False)
    inputs = path.with_suffix(".io")
    inputs.mkdir(exist_ok=True)
    for i, (each, value) in enumerate(given.items()):
        (inputs / f"input_{i}.pb").write_bytes(onnx.numpy_helper.from_array(value.numpy(), each).SerializeToString())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("names", nargs="*", metavar="NAME", help="all of them, unless told: " + ", ".join(MODELS))
    options = parser.parse_args()
    if unknown := [name for name in options.names if name not in MODELS]:
        parser.error(f"expected names of {', '.join(MODELS)}, got {', '.join(unknown)}")
    options.folder.mkdir(parents=True, exist_ok=True)
    for name in options.names or MODELS:
        for exporter, (*_, cache) in EXPORTERS.items():
            if (cache and MODELS[name][0] != "decoder") or (options.folder / f"{name}-{exporter}.onnx").exists():
                continue
            try:
                with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                    export(name, exporter, options.folder)
            except Exception as error:  # whatever an exporter does not take
                reason = (str(error).strip() or type(error).__name__).splitlines()[0]
                print(f"{name}-{exporter}: not exported: {reason[:150]}", flush=True)
                (options.folder / f"{name}-{exporter}.onnx").unlink(missing_ok=True)


if __name__ == "__main__":
    main()
