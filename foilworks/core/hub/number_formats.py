"""The number format (dtype) of a model's weights: how a spec names it, and what `auto` means. Imports no torch before
`auto` is resolved.

`auto` is bfloat16 for models that write text (GENERATIVE) on a GPU: their published weights have this format, and in
float32 a model of 7 billion weights needs 28 GB. Everything else gets float32. Encoders and matching heads rank texts
whose cosines differ in the third digit, and bfloat16 ties these. Models of texts judge by hundredths of a nat. On a CPU
float32 is the reference that the tests compare with.
"""

from dataclasses import replace
from typing import Any

from foilworks.core.hub.errors import HubError
from foilworks.core.hub.interfaces import ModelInfo
from foilworks.core.text.quoting import quoted
from foilworks.core.text.registry import Entry, load

AUTO, FLOAT32, BFLOAT16, FLOAT16 = "auto", "float32", "bfloat16", "float16"
FORMATS = (FLOAT32, BFLOAT16, FLOAT16)
OPTION = "dtype="
GENERATIVE = frozenset({"vlm", "chat"})
# Loaded by path, so that pages do not import torch.
CHOOSE_DEVICE = Entry("which device a name means", "foilworks.core.hub.device:choose_device")
HAS_BF16 = Entry("whether a device computes in bfloat16", "foilworks.core.hub.device:has_bf16")


def split_dtype(argument: str, dtype: str = AUTO) -> tuple[str, str]:
    """Return ("a/b?frames=4", "bfloat16") for "a/b?frames=4&dtype=bfloat16"; `dtype` if the argument names none.

    HubError: an unknown format, or another one than `dtype` asks for.
    """
    name, _, tail = argument.partition("?")
    options = tail.split("&")
    named = [option.removeprefix(OPTION) for option in options if option.startswith(OPTION)]
    for one in (*named, dtype):
        if one != AUTO and one not in FORMATS:
            raise HubError(f"dtype {quoted(one)} is unknown; choose one of: {', '.join(FORMATS)}")
    asked = {*named, dtype} - {AUTO}
    if len(asked) > 1:
        raise HubError(f"{quoted(argument)}: dtype is {' and '.join(sorted(asked))}; name one format")
    if not named:
        return argument, dtype
    rest = "&".join(option for option in options if not option.startswith(OPTION))
    return f"{name}?{rest}" if rest else name, asked.pop() if asked else AUTO


def choose_format(device_kind: str, *, writes_text: bool, has_bf16: bool) -> str:
    """Choose the format of `auto` on a device of this kind (cpu, cuda).

    A GPU without bfloat16 units gets float32: float16 overflows in models that were trained in bfloat16.
    """
    return BFLOAT16 if device_kind != "cpu" and writes_text and has_bf16 else FLOAT32


def resolve_dtype(slug: str, dtype: str, device: str) -> str:
    """Return the format that a model of the adapter `slug` runs in on `device` (auto, cpu, cuda, cuda:N)."""
    if dtype != AUTO:
        return dtype
    if slug not in GENERATIVE or device == "cpu":
        return FLOAT32
    chosen = load(CHOOSE_DEVICE)(device)
    return choose_format(chosen.type, writes_text=True, has_bf16=load(HAS_BF16)(chosen))


def dtype_of_spec(spec: str, dtype: str, device: str) -> str:
    """Return the same for `SLUG:ARGUMENT`, which may name a format."""
    slug, _, argument = spec.partition(":")
    return resolve_dtype(slug, split_dtype(argument, dtype)[1], device)


def mark_dtype(adapter: Any, dtype: str) -> Any:
    """Add the format to the adapter's revision, so that no key holds scores of two formats. Keys of float32 do not name
    it."""
    info = getattr(adapter, "info", None)
    if dtype == FLOAT32 or not isinstance(info, ModelInfo):
        return adapter
    try:
        adapter.info = replace(info, revision=f"{info.revision} {dtype}")
    except AttributeError as error:
        raise HubError(f"{info.model_id}: its info cannot be set ({error}); make it a plain attribute") from error
    return adapter
