"""Moving a batch to where the model is."""

import torch


def moved(images: torch.Tensor, device: torch.device) -> torch.Tensor:
    """The tensor on the device. On its way to a GPU it goes through page-locked memory, which torch keeps for the next
    one, so that the copy goes on beside what the GPU computes."""
    if device.type != "cuda":
        return images.to(device)
    return images.contiguous().pin_memory().to(device, non_blocking=True)
