"""Vision towers in Hugging Face configs: counted where their layout is known, else noted."""

from __future__ import annotations

from rlecon.errors import RleconError
from rlecon.matrices import Linear, whole_number
from rlecon.vision import VisionTower

# The tower that both published Llama 4 models share; used when a config leaves it out.
_LLAMA4_TOWER = {
    "hidden_size": 1408, "image_size": 336, "intermediate_size": 5632, "num_channels": 3, "num_hidden_layers": 34,
    "patch_size": 14, "pixel_shuffle_ratio": 0.5, "projector_input_dim": 4096, "projector_output_dim": 4096,
    "vision_output_dim": 4096,
}


def vision_parameters(outer, family_name, hidden):
    """Return ``(parameters, notes)`` of the vision tower of config ``outer``; ``hidden``: width of the decoder."""
    table = outer.get("vision_config")
    classes = outer.get("architectures")
    images = isinstance(classes, list) and any("ConditionalGeneration" in str(name) for name in classes)
    if not table:
        if family_name == "llama4" and images:
            return _llama4(_LLAMA4_TOWER, hidden), [
                "vision_config is absent: the tower that both published Llama 4 models share is counted"
            ]
        return 0, ["vision_config is absent: no vision tower counted"] if images else []
    if not isinstance(table, dict):
        raise RleconError("must be a table", field="vision_config")
    count = {
        "qwen3_vl": _qwen3, "qwen3_vl_moe": _qwen3, "qwen3_5": _qwen3, "qwen3_5_moe": _qwen3, "qwen2_5_vl": _qwen25,
        "qwen2_vl": _qwen2, "llama4": _llama4, "gemma3": _siglip,
    }.get(family_name)
    if count is None:
        return 0, ["the vision tower is of a kind that is not counted here: the total is of the language model alone"]
    if family_name == "gemma3":
        table = {"image_size": 896, "num_channels": 3, **table}
    total = count(table, hidden)
    return total, [f"vision tower of {total:,} parameters counted in the total; text does not pass it"]


def _get(table, key, least=1, default=None):
    value = table.get(key, default)
    return whole_number(value, "vision_config." + key, least)


def _qwen3(table, hidden):
    deep = table.get("deepstack_visual_indexes") or []
    if not isinstance(deep, list):
        raise RleconError("must be a list", field="vision_config.deepstack_visual_indexes")
    output = _get(table, "out_hidden_size")
    if output != hidden:
        raise RleconError("must equal the hidden_size of the language model", field="vision_config.out_hidden_size",
                          value=output, allowed=str(hidden))
    patch = _get(table, "in_channels", default=3) * _get(table, "temporal_patch_size") * _get(table, "patch_size") ** 2
    return VisionTower(
        _get(table, "depth"), _get(table, "hidden_size"), _get(table, "intermediate_size"), patch,
        _get(table, "num_position_embeddings"), _get(table, "spatial_merge_size"), output, len(deep),
    ).parameters


def _patch_elements(table):
    """Numbers in one patch of some frames, in the spellings of Qwen2-VL and Qwen2.5-VL."""
    channels = _get(table, "in_channels", default=_get(table, "in_chans", default=3))
    return channels * _get(table, "temporal_patch_size", default=2) * _get(table, "patch_size", default=14) ** 2


def _qwen25(table, hidden):
    width, ffn = _get(table, "hidden_size", default=1280), _get(table, "intermediate_size", default=3420)
    depth, merged = _get(table, "depth", default=32), _get(table, "spatial_merge_size", default=2)
    patch = _patch_elements(table)
    wide = width * merged**2
    block = Linear(width, 3 * width, True).parameters + Linear(width, width, True).parameters + 2 * width
    block += Linear(width, ffn, True, copies=2).parameters + Linear(ffn, width, True).parameters
    merger = width + Linear(wide, wide, True).parameters + Linear(wide, hidden, True).parameters
    return patch * width + depth * block + merger


def _qwen2(table, hidden):
    width, merged = _get(table, "embed_dim", default=1280), _get(table, "spatial_merge_size", default=2)
    depth, ffn = _get(table, "depth", default=32), width * _get(table, "mlp_ratio", default=4)
    output = _get(table, "hidden_size", default=hidden)  # of the merger, not of the tower
    if output != hidden:
        raise RleconError("must equal the hidden_size of the language model", field="vision_config.hidden_size",
                          value=output, allowed=str(hidden))
    patch = _patch_elements(table)
    wide = width * merged**2
    block = Linear(width, width, True, copies=4).parameters + 4 * width
    block += Linear(width, ffn, True).parameters + Linear(ffn, width, True).parameters
    merger = 2 * width + Linear(wide, wide, True).parameters + Linear(wide, hidden, True).parameters
    return patch * width + depth * block + merger


def _blocks(table, width):
    ffn = _get(table, "intermediate_size")
    block = Linear(width, width, True, copies=4).parameters + 4 * width
    block += Linear(width, ffn, True).parameters + Linear(ffn, width, True).parameters
    return _get(table, "num_hidden_layers") * block


def _llama4(table, hidden):
    width, side = _get(table, "hidden_size"), _get(table, "patch_size")
    ratio = table.get("pixel_shuffle_ratio", 0.5)
    if not isinstance(ratio, float) or not 0 < ratio <= 1:
        raise RleconError("must be a fraction", field="vision_config.pixel_shuffle_ratio", value=repr(ratio)[:40])
    positions = (_get(table, "image_size") // side) ** 2 + 1
    first, second = _get(table, "projector_input_dim"), _get(table, "projector_output_dim")
    shuffled = round(width / ratio**2)
    return (
        width + positions * width + _get(table, "num_channels") * side**2 * width + 4 * width + _blocks(table, width)
        + shuffled * first + first * second + _get(table, "vision_output_dim") * hidden
    )


def _siglip(table, hidden):
    width, side = _get(table, "hidden_size"), _get(table, "patch_size")
    positions = (_get(table, "image_size") // side) ** 2
    patches = Linear(_get(table, "num_channels") * side**2, width, True).parameters
    return patches + positions * width + _blocks(table, width) + 2 * width + width * hidden + width
