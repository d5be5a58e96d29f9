"""Hugging Face ``config.json`` to an architecture.

A config says what its class does not already imply, so the reader knows the classes: which have biases, norms on
queries and keys, tied embeddings, shared experts. A class that is not known here is read only where nothing could
change the count unseen; else it is refused with the reason. No code named in a config is ever run.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from rlecon.architecture import Architecture
from rlecon.errors import RleconError
from rlecon.layers import group
from rlecon.matrices import MOST_LAYERS
from rlecon.readers.core import parse_json, read_text
from rlecon.readers.huggingface_families import ALIASES, COMMON, FAMILIES, HARMLESS, LLAMA, OLD_NAMES, STRUCTURAL
from rlecon.readers.huggingface_layers import Config, decoder_layers
from rlecon.readers.huggingface_quantization import quantize
from rlecon.readers.huggingface_vision import vision_parameters


def read_architecture(source, name=None) -> Architecture:
    """Read a Hugging Face config into an Architecture.

    ``source``: path of a ``config.json`` (or of the folder that holds one), or the parsed table. Returns an
    Architecture whose ``notes`` say what was assumed or left out. Raises RleconError when the file cannot be read,
    or when the count would not be right: an unknown class with keys of unknown effect, per-layer tables that are not
    understood, a missing or impossible dimension.

    >>> arch = read_architecture({"model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 32,
    ...     "num_attention_heads": 32, "intermediate_size": 11008, "vocab_size": 32000, "hidden_act": "silu"})
    >>> arch.total_parameters
    6738415616
    """
    if not isinstance(source, dict):
        path = Path(source)
        try:
            path = path / "config.json" if path.is_dir() else path
        except (OSError, ValueError):
            raise RleconError("not a usable path", field=repr(str(source))[:80]) from None
        name = name or (path.parent.name if path.name == "config.json" else path.stem)
        source = parse_json(read_text(path), str(path))
    if not isinstance(source, dict):
        raise RleconError("must be a JSON object", field="config", value=type(source).__name__)
    try:
        return _read(source, name or "")
    except RecursionError:
        raise RleconError("nested too deeply", field="config") from None


def _inner_text(outer):
    """The table of the language model and its name, following one level of nesting."""
    for key in ("text_config", "llm_config", "language_config"):
        inner = outer.get(key)
        if inner is not None:
            if not isinstance(inner, dict):
                raise RleconError("must be a table", field=key)
            if "hidden_size" in inner or "num_hidden_layers" in inner:
                return inner, key + "."
    return outer, ""


def _family_name(table, outer):
    """Normalized model type of the language model."""
    given = table.get("model_type", outer.get("model_type"))
    if not isinstance(given, str) or not given:
        raise RleconError("is missing", field="model_type", advice="the class of the model decides what is counted")
    name = given.lower().replace("-", "_").replace(".", "_")
    name = ALIASES.get(name, name)
    name = name.removesuffix("_text")
    return given, ALIASES.get(name, name)


def _read(outer, name):
    table, prefix = _inner_text(outer)
    for source, where in ((outer, ""), (table, prefix)):
        if source.get("block_configs") is not None:
            raise RleconError(
                "each layer has its own shape, which is not read", field=where + "block_configs",
                advice="give the total of the model card instead",
            )
    given, family_name = _family_name(table, outer)
    family = FAMILIES.get(family_name)
    known = family is not None
    if not known:
        family = _generic_family(given, table, outer)
    c = Config(table, family.defaults, prefix)
    hidden, vocab = c.whole("hidden_size"), c.whole("vocab_size")
    count = c.whole("num_hidden_layers", most=MOST_LAYERS)
    layers = decoder_layers(c, family, family_name, hidden, count)
    tied = _tied(c, family, outer)
    norm = hidden * (0 if not family.norm_weight else 2 if family.norm_bias else 1)
    notes = []
    arch = Architecture(
        name=name, hidden=hidden, vocab=vocab, tied_embeddings=tied, stack=group(layers), final_norm_parameters=norm,
        position_parameters=hidden * c.whole("max_position_embeddings") if family.positions else 0,
        head_bias=family.head_bias and not tied,
    )
    for key in ("num_nextn_predict_layers", "mtp_num_hidden_layers"):
        extra = c.whole(key, 0, least=0)
        if extra:
            notes.append(f"{extra} multi-token-prediction layer(s) not counted; a checkpoint may hold them")
    vision, said = vision_parameters(outer, family_name, hidden)
    notes += said
    if vision:
        arch = replace(arch, vision_parameters=vision)
    if arch.moe_layers and vision:
        notes.append("active_parameters leaves the vision tower out: text does not pass it")
    arch, said = quantize(arch, outer.get("quantization_config", table.get("quantization_config")))
    notes += said
    notes += _unread(c, outer, given)
    if arch.window_kv_elements_per_token:
        notes.append(f"sliding window of {arch.window_tokens} tokens: kv_bytes stops growing there on those layers; "
                     "kv_bytes_per_token is before any window is full")
    if arch.state_bytes:
        notes.append(f"fixed state of {arch.state_bytes:,} bytes per sequence (fp32 states, bf16 convolution tails), "
                     "included in kv_bytes")
    unknown = f"model_type {given[:40]!r} is not known here: counted as a Llama-like decoder, up to biases and norms"
    return arch.with_notes(*(() if known else (unknown,)), *c.notes, *notes)


def _generic_family(given, table, outer):
    """A Llama-like family for an unknown class, if no key of its config could change the count unseen."""
    unknown = sorted(
        key for key in table if key not in COMMON and OLD_NAMES.get(key, key) not in COMMON
        and not HARMLESS.search(key)
    )
    reason = None
    act = table.get("hidden_act", table.get("hidden_activation"))
    if unknown:
        reason = "its keys " + ", ".join(key[:40] for key in unknown[:4]) + " may change the count"
    elif outer is not table:
        reason = "its parts beyond the language model are unknown"
    elif act not in ("silu", "swish", "swiglu"):
        reason = "whether its MLP is gated is unknown"
    elif not isinstance(table.get("tie_word_embeddings"), bool):
        reason = "whether it ties its embeddings is not said"
    elif table.get("intermediate_size") is None:
        reason = "the width of its MLP is not said"
    elif table.get("num_key_value_heads") is None:
        reason = "its number of KV heads is not said"
    if reason:
        raise RleconError(f"not a class that is known here, and {reason}", field="model_type", value=str(given)[:60],
                          advice="known: " + ", ".join(sorted(FAMILIES)))
    return replace(LLAMA, windows="qwen" if "use_sliding_window" in table else "all")


def _tied(c, family, outer):
    inner, top = c.get("tie_word_embeddings"), outer.get("tie_word_embeddings")
    for value in (inner, top):
        if value is not None and not isinstance(value, bool):
            raise RleconError("must be true or false", field="tie_word_embeddings", value=repr(value)[:60])
    if inner is not None and top is not None and inner != top:
        c.notes.append(f"tie_word_embeddings is {top} at the top and {inner} in {c.prefix[:-1]}: the top is taken")
    if top is not None:
        return top
    if inner is not None:
        return inner
    c.notes.append(f"tie_word_embeddings is absent: {family.tied} by the default of its class")
    return family.tied


def _unread(c, outer, given):
    """Refuse keys that would change the count unseen; note other keys that look structural."""
    suspicious = re.compile(r"layer|head|hidden|expert|intermediate|ffn|rank|proj|conv|block|state|kernel|embed|size")
    doubtful = []
    for key, value in c.table.items():
        if key in c.read or value in (None, False, 0, "", []) or value == {}:
            continue
        if key in STRUCTURAL:
            raise RleconError(
                f"a model of type {str(given)[:40]!r} is not known to have this, and it would change the count",
                field=c.prefix + key, value=repr(value)[:60],
            )
        if key not in COMMON and not HARMLESS.search(key) and suspicious.search(key):
            doubtful.append(key[:60])
    notes = []
    if doubtful:
        notes.append("keys that were not read: " + ", ".join(sorted(doubtful)[:10]))
    others = [key for key in ("audio_config", "audio_encoder", "talker_config") if outer.get(key)]
    if others:
        notes.append("not counted: " + ", ".join(others))
    return notes


def describe(arch: Architecture, contexts=(1024, 8192, 32768, 131072), weight_bits=None) -> dict:
    """The answer of ``rlecon model`` for an architecture, from a config or from the catalogue.

    ``contexts``: lengths in tokens at which to give the KV cache of one sequence; ``weight_bits``: bits per parameter
    of the linear layers, None = as stored (16 unless the config is quantized). Returns a table that prints as JSON;
    bytes throughout; ``weight_bytes`` is None where the stored format is not known.

    >>> arch = Architecture.from_entry(dict(layers=36, hidden=4096, heads=32, kv_heads=8, head_dim=128, ffn=12288,
    ...     vocab=151936, tied_embeddings=False, qk_norm="head"))
    >>> describe(arch, contexts=(1000,))["kv_bytes"]
    {'1000': 147456000}
    """
    known = weight_bits is not None or None not in (arch.linear_bits, arch.expert_bits)
    return {
        "name": arch.name,
        "total_parameters": arch.total_parameters,
        "active_parameters": arch.active_parameters,
        "active_parameters_matmul": arch.active_parameters_matmul,
        "kv_bytes_per_token": round(float(arch.kv_bytes_per_token())),
        "kv_bytes": {str(context): round(float(arch.kv_bytes(context))) for context in contexts},
        "weight_bytes": round(float(arch.weight_bytes(weight_bits))) if known else None,
        "attention": arch.attention,
        "layers": arch.layers,
        "experts": arch.experts,
        "experts_per_token": arch.experts_per_token,
        "parts": {part: {"parameters": count, "share": share} for part, count, share in arch.table()},
        "notes": list(arch.notes),
    }
