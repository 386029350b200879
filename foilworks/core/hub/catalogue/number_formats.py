"""The number format (dtype) of a model's weights: how a spec names it, and what `auto` means. Imports no torch before
`auto` is resolved.

`auto` is bfloat16 for models that write text (GENERATIVE) on a GPU: their published weights have this format, and in
float32 a model of 7 billion weights needs 28 GB. Everything else gets float32. Encoders and matching heads rank texts
whose cosines differ in the third digit, and bfloat16 ties these. Models of texts judge by hundredths of a nat. On a CPU
float32 is the reference that the tests compare with.
"""

from foilworks.core.hub.catalogue.registry import DEVICES, TORCH
from foilworks.core.hub.errors import HubError
from foilworks.core.text.quoting import quoted
from foilworks.core.text.registry import load

AUTO, FLOAT32, BFLOAT16, FLOAT16 = "auto", "float32", "bfloat16", "float16"
FORMATS = (FLOAT32, BFLOAT16, FLOAT16)
OPTION = "dtype="
GENERATIVE = frozenset({"vlm", "chat"})


def split_dtype(argument: str, dtype: str = AUTO) -> tuple[str, str]:
    """Return ("a/b?frames=4", "bfloat16") for "a/b?frames=4&dtype=bfloat16"; `dtype` if the argument names none.

    HubError: an unknown format, or another one than `dtype` asks for.
    """
    name, _, tail = argument.partition("?")
    options = tail.split("&")
    named_formats = [option.removeprefix(OPTION) for option in options if option.startswith(OPTION)]
    for number_format in (*named_formats, dtype):
        if number_format != AUTO and number_format not in FORMATS:
            raise HubError(f"dtype {quoted(number_format)} is unknown; choose one of: {', '.join(FORMATS)}")
    requested_formats = {*named_formats, dtype} - {AUTO}
    if len(requested_formats) > 1:
        raise HubError(f"{quoted(argument)}: dtype is {' and '.join(sorted(requested_formats))}; name one format")
    if not named_formats:
        return argument, dtype
    other_options = "&".join(option for option in options if not option.startswith(OPTION))
    return f"{name}?{other_options}" if other_options else name, requested_formats.pop() if requested_formats else AUTO


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
    torch_devices = load(DEVICES[TORCH])
    torch_device = torch_devices.choose_device(device)
    return choose_format(torch_device.type, writes_text=True, has_bf16=torch_devices.has_bf16(torch_device))


def dtype_of_spec(spec: str, dtype: str, device: str) -> str:
    """Return the same for `SLUG:ARGUMENT`, which may name a format."""
    slug, _, argument = spec.partition(":")
    return resolve_dtype(slug, split_dtype(argument, dtype)[1], device)
