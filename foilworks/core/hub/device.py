"""Choose the device and number format of a model. Imports torch: only adapters import this."""

import torch

from foilworks.core.hub.catalogue.number_formats import FORMATS
from foilworks.core.hub.errors import HubError
from foilworks.core.text.quoting import quoted

# The first compute capability of NVIDIA with bfloat16 units.
BF16_CAPABILITY = (8, 0)


def choose_device(name: str = "auto") -> torch.device:
    """Return the device of a name: auto (the first GPU if there is one, else the CPU), cpu, cuda or cuda:N. HubError:
    it is not available."""
    if name == "cpu":
        return torch.device("cpu")
    count = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if name == "auto":
        return _strict(torch.device("cuda:0")) if count else torch.device("cpu")
    kind, _, index = name.partition(":")
    if kind != "cuda" or (index and not index.isdecimal()):
        raise HubError(f"device {quoted(name)} is unknown; choose auto, cpu, cuda or cuda:N")
    if int(index or 0) >= count:
        gpu_text = f"this machine shows {count} GPU(s)" if count else "no GPU is visible to torch here"
        raise HubError(f"device {quoted(name)} is not available: {gpu_text}; choose auto or cpu")
    return _strict(torch.device("cuda", int(index or 0)))


def _strict(device: torch.device) -> torch.device:
    """Return the GPU, after float32 is set to mean float32 there: by default, torch rounds what convolutions multiply
    to 10 bits (TF32), and the same model scores up to 1e-3 nats away from a CPU."""
    torch.backends.cudnn.allow_tf32 = False
    torch.backends.cuda.matmul.allow_tf32 = False
    return device


def has_bf16(device: torch.device) -> bool:
    """Whether the device has bfloat16 units (NVIDIA since Ampere). For a CPU this is True: torch emulates what it
    lacks."""
    return device.type != "cuda" or torch.cuda.get_device_capability(device) >= BF16_CAPABILITY


def choose_dtype(name: str = "float32") -> torch.dtype:
    """Return the torch dtype of a name; HubError lists the names."""
    if name not in FORMATS:
        raise HubError(f"dtype {quoted(name)} is unknown; choose one of: {', '.join(FORMATS)}")
    number_format: torch.dtype = getattr(torch, name)
    return number_format


def moved(images: torch.Tensor, device: torch.device) -> torch.Tensor:
    """Move a tensor to the device, in the order that it has in memory. Copies to a GPU go through page-locked memory,
    which torch reuses, so that they run while the GPU computes."""
    if device.type != "cuda":
        return images.to(device)
    return images.pin_memory().to(device, non_blocking=True)
