"""Bits per parameter of quantized Hugging Face checkpoints."""

from __future__ import annotations

from dataclasses import replace

from rlecon.architecture import Architecture
from rlecon.errors import RleconError


def quantize(arch: Architecture, table):
    """Return ``(architecture, notes)`` with the bits that ``quantization_config`` says its weights are stored in."""
    if table is None or table == {}:
        return arch, []
    if not isinstance(table, dict):
        raise RleconError("must be a table", field="quantization_config")
    method = table.get("quant_method", table.get("quantization_method", table.get("quant_algo")))
    bits = _bits(str(method).lower(), table)
    if bits is None:
        unknown = replace(arch, linear_bits=None, expert_bits=None)
        return unknown, [f"quantization {str(method)[:40]!r} is not known here: weight_bytes is unknown"]
    skipped = _skipped(table)
    linear_bits = expert_bits = bits
    if arch.expert_parameters and any("expert" in name for name in skipped):
        expert_bits = 16
    mixer = 16 if any("attn" in name or "attention" in name for name in skipped) else bits
    dense = 16 if any(name.rstrip("*.$").endswith("mlp") for name in skipped) else bits
    shared = 16 if any("shared_expert" in name for name in skipped) else bits
    linear = arch.mixer_parameters + arch.dense_mlp_parameters + arch.shared_expert_parameters
    if linear:
        linear_bits = (
            arch.mixer_parameters * mixer + arch.dense_mlp_parameters * dense + arch.shared_expert_parameters * shared
        ) / linear
    note = f"weights stored as {str(method)[:40]}: {bits:.4g} bits per quantized parameter, scales included"
    return replace(arch, linear_bits=linear_bits, expert_bits=expert_bits), [note]


def _number(table, key, default=None):
    value = table.get(key, default)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 1 <= abs(value) <= 65536:
        raise RleconError("must be a number", field="quantization_config." + key, value=repr(value)[:40])
    return value


def _per_group(bits, size, scale_bits):
    """Bits with a scale per group of ``size`` weights; a size of -1 is one scale per row, too few to count."""
    return bits + (scale_bits / size if size > 0 else 0)


def _bits(method, table):
    if method == "fp8":
        block = table.get("weight_block_size")
        if isinstance(block, list) and len(block) == 2 and all(isinstance(n, int) and 0 < n <= 65536 for n in block):
            return 8 + 32 / (block[0] * block[1])
        return 8
    if method == "mxfp4":
        return 4 + 8 / 32
    if method in ("gptq", "awq", "auto-round", "autoround"):
        bits = _number(table, "bits")
        return _per_group(bits, _number(table, "group_size", 128), 16 + bits)
    if method in ("bitsandbytes", "bnb"):
        if table.get("load_in_8bit"):
            return 8
        if table.get("load_in_4bit"):
            return 4.127 if table.get("bnb_4bit_use_double_quant") else 4.5
        return None
    if method == "compressed-tensors":
        return _compressed(table)
    if method == "modelopt":
        algorithm = str(table.get("quant_algo", "")).upper()
        return {"FP8": 8, "NVFP4": 4.5, "W4A8_AWQ": 4.125}.get(algorithm)
    return None


def _compressed(table):
    groups = table.get("config_groups")
    if not isinstance(groups, dict) or not groups:
        return None
    found = set()
    for scheme in groups.values():
        weights = scheme.get("weights") if isinstance(scheme, dict) else None
        if not isinstance(weights, dict):
            return None
        bits, size = _number(weights, "num_bits"), weights.get("group_size")
        scale = 8 if weights.get("type") == "float" and bits == 4 else 16
        size = size if isinstance(size, int) and not isinstance(size, bool) else -1
        found.add(_per_group(bits, size, scale))
    return found.pop() if len(found) == 1 else None


def _skipped(table):
    """Patterns of modules kept in 16 bits; those that name single layers are too few to matter and left out."""
    names = []
    for key in ("modules_to_not_convert", "ignore", "ignored_layers", "exclude_modules"):
        value = table.get(key)
        if isinstance(value, list):
            names += [name for name in value if isinstance(name, str)]
    return [name for name in names if "*" in name or not any(part.isdigit() for part in name.split("."))]
