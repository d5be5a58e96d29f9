"""From the name a framework uses for a model to a name of the catalogue, when the architecture is surely the same."""

from __future__ import annotations

import re

from rlecon import catalog
from rlecon.errors import RleconError

# Published models that share every dimension with one of the catalogue.
SAME_ARCHITECTURE = {
    "qwen2.5-math-1.5b": "qwen2.5-1.5b",
    "deepseek-r1-distill-qwen-1.5b": "qwen2.5-1.5b",
    "qwen2.5-math-7b": "qwen2.5-7b",
    "deepseek-r1-distill-qwen-7b": "qwen2.5-7b",
    "deepseek-r1-distill-qwen-32b": "qwen2.5-32b",
    "qwen2.5-coder-7b": "qwen2.5-7b",
    "qwen2.5-coder-32b": "qwen2.5-32b",
    "llama-3-8b": "llama-3.1-8b",
    "meta-llama-3-8b": "llama-3.1-8b",
    "meta-llama-3.1-8b": "llama-3.1-8b",
    "deepseek-r1-distill-llama-8b": "llama-3.1-8b",
    "meta-llama-3.1-70b": "llama-3.1-70b",
    "deepseek-r1-distill-llama-70b": "llama-3.1-70b",
    "llama-3.3-70b": "llama-3.1-70b",
    "meta-llama-3.1-405b": "llama-3.1-405b",
    "deepseek-v3.1": "deepseek-v3",
    "deepseek-v3-0324": "deepseek-v3",
    "deepseek-r1-0528": "deepseek-r1",
}
# A word in a name that may change what is counted: then the name alone does not settle the architecture.
CHANGES = frozenset({
    "distill", "distilled", "draft", "eagle", "mtp", "pruned", "minitron", "merged", "upscaled", "moe",
    "awq", "gptq", "gguf", "bnb", "fp8", "fp4", "nvfp4", "mxfp4", "int4", "int8",
    "vl", "vision", "omni", "audio", "embedding", "reranker", "reward", "rm",
    "next", "coder", "math", "mini", "nano", "lite", "exp", "speciale",
})


def _known(name):
    try:
        return catalog.model(name).name
    except RleconError:
        return None


def catalogue_name(model):
    """The catalogue's name for ``model`` (a repository, a path or a name) and how it was found; None when unsure.

    >>> catalogue_name("nobody/Mystery-900B")
    (None, '')
    """
    slug = re.sub(r"\s*\(.*\)$", "", str(model).strip()).rstrip("/").rsplit("/", 1)[-1].lower().replace("_", "-")
    tokens = slug.split("-")[:20]
    for end in range(len(tokens), 0, -1):
        head, tail = "-".join(tokens[:end]), tokens[end:]
        name = _known(SAME_ARCHITECTURE.get(head, head))
        if name:
            if any(word in CHANGES or not (word.isalpha() or re.fullmatch(r"2[0-9]{3}", word)) for word in tail):
                return None, ""
            if name == slug:
                return name, ""
            return name, f" (by its name, of the same architecture as {name})"
    return None, ""
