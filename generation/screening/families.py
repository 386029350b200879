"""Find the family of a model by its name. Pure: pages import no model library."""

import re

# "Qwen2.5-VL-7B" and "qwen3_vl" are of one family: the letters at the start of the name.
STEM = re.compile(r"[^\W\d_]+")
NAMES_OF_COPIES = frozenset({"model", "models", "tuned", "checkpoint", "snapshot", "final", "hf", "base", "large"})


def name_of(model_key: str) -> str:
    """Return the name of a model without its revision: "openai/clip-vit-base-patch32" of "openai/…@3d74acf"."""
    return model_key.partition("@")[0].strip()


def family_of(model_key: str) -> str:
    """Return the family of a model: "qwen" of "Qwen/Qwen2.5-VL-7B@…"; "" if the name does not tell.

    Sizes and versions of a family, and models tuned from it under its name, count as one: a mark too many is better
    than one too few.
    """
    model_name = name_of(model_key).casefold()
    # Of "openai/clip-vit" and of an endpoint's "local:clip-vit", the last part is the model.
    match = STEM.search(re.split(r"[/:]", model_name.rstrip("/"))[-1]) or STEM.search(model_name)
    return "" if match is None or match.group() in NAMES_OF_COPIES else match.group()
