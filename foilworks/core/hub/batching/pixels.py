"""Turn frames into a model's input as its preprocessor_config.json says: resized, cropped, normalised. No
torchvision."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import torch
from torch.nn import functional as F
from transformers import ImageProcessingMixin

from foilworks.core.hub.device import moved
from foilworks.core.hub.errors import HubError
from foilworks.core.hub.loading.pretrained import model_source

# PIL's numbers of its resampling filters.
FILTERS = {0: "nearest-exact", 1: "lanczos", 2: "bilinear", 3: "bicubic"}


@dataclass(frozen=True)
class Pixels:
    """How frames are prepared. `resize`: the shorter side (an int) or (height, width), None = unchanged; `crop`:
    (height, width) or None."""

    resize: int | tuple[int, int] | None
    crop: tuple[int, int] | None
    resample: str
    rescale: float
    mean: tuple[float, ...]
    std: tuple[float, ...]

    @classmethod
    def of(cls, argument: str, image_size: int | tuple[int, int]) -> "Pixels":
        """Read the settings of a folder's or hub id's preprocessor_config.json; HubError if it is missing."""
        source, revision = model_source(argument)
        options: dict[str, Any] = {"revision": revision} if revision else {}
        try:
            raw, _ = ImageProcessingMixin.get_image_processor_dict(source, **options)
        except (OSError, ValueError) as error:
            raise HubError(
                f"{argument}: preprocessor_config.json: missing or unreadable; copy it beside config.json"
            ) from error
        return cls.from_settings(raw, (image_size, image_size) if isinstance(image_size, int) else image_size)

    @classmethod
    def from_settings(cls, raw: Mapping[str, Any], side: tuple[int, int]) -> "Pixels":
        """Read a processor's settings; `side` (height, width) if they name no size."""
        size = raw.get("size") or {}
        crop = raw.get("crop_size") or {}
        return cls(
            resize=_resize(size, side) if raw.get("do_resize", True) else None,
            crop=_pair(crop, side) if raw.get("do_center_crop") else None,
            resample=FILTERS.get(raw.get("resample", 3), "bicubic"),
            rescale=float(raw.get("rescale_factor", 1 / 255)) if raw.get("do_rescale", True) else 1.0,
            mean=tuple(raw.get("image_mean") or (0.5,) * 3) if raw.get("do_normalize", True) else (0.0,) * 3,
            std=tuple(raw.get("image_std") or (0.5,) * 3) if raw.get("do_normalize", True) else (1.0,) * 3,
        )

    def __call__(self, frames: np.ndarray, device: torch.device) -> torch.Tensor:
        """Turn uint8 (k, height, width, 3) into float32 (k, 3, height', width') on the device."""
        # Resized in whole grey levels on the CPU, as PIL and torchvision do: one picture whatever the device.
        resized = self._resized(torch.from_numpy(np.ascontiguousarray(frames)).permute(0, 3, 1, 2))
        images = moved(resized, device).float()
        if self.crop is not None:
            images = _cropped(images, *self.crop)
        mean, std = _by_channel(self.mean, device), _by_channel(self.std, device)
        return (images * self.rescale - mean) / std

    def smaller(self, frames: np.ndarray) -> np.ndarray:
        """Resize uint8 (k, height, width, 3) as `__call__` does, so `__call__` gives the same for the result."""
        images = torch.from_numpy(np.ascontiguousarray(frames)).permute(0, 3, 1, 2)
        return self._resized(images).permute(0, 2, 3, 1).contiguous().numpy()

    def _resized(self, images: torch.Tensor) -> torch.Tensor:
        height, width = images.shape[2:]
        if isinstance(self.resize, int):
            short = min(height, width)
            # As the reference: the longer side is cut to a whole number, not rounded.
            size = (max(1, height * self.resize // short), max(1, width * self.resize // short))
        else:
            size = self.resize or (height, width)
        if size == (height, width):
            return images
        if self.resample == "nearest-exact":
            return F.interpolate(images, size, mode=self.resample)
        return F.interpolate(images, size, mode=self.resample, antialias=True)


@cache
def _by_channel(values: tuple[float, ...], device: torch.device) -> torch.Tensor:
    """Return (1, 3, 1, 1); made once, because each copy of a few numbers to a GPU waits for it."""
    return torch.tensor(values, device=device).view(1, 3, 1, 1)


def patch_rows(
    frames: np.ndarray, pixels: Pixels, patch: int, max_patches: int, device: torch.device
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Cut frames, near their own shape, into rows of at most `max_patches` patches of `patch` pixels (SigLIP 2 with
    free sizes).

    Returns rows (k, max_patches, patch * patch * 3) with zeros behind, their mask (k, max_patches), and (k, 2) patches
    down and across.
    """
    height, width = _size_of_patches(frames.shape[1], frames.shape[2], patch, max_patches)
    images = replace(pixels, resize=(height, width), crop=None)(frames, device)
    k, down, across = len(images), height // patch, width // patch
    rows = images.view(k, 3, down, patch, across, patch).permute(0, 2, 4, 3, 5, 1).reshape(k, down * across, -1)
    mask = torch.zeros(k, max_patches, dtype=torch.int32, device=device)
    mask[:, : down * across] = 1
    shapes = torch.tensor([[down, across]] * k, device=device)
    return F.pad(rows, (0, 0, 0, max_patches - down * across)), mask, shapes


def _size_of_patches(height: int, width: int, patch: int, max_patches: int) -> tuple[int, int]:
    """The largest (height, width) in whole patches, `max_patches` of them or fewer, that keeps the picture's shape."""
    low, high = 1e-6, 100.0
    while high - low >= 1e-5:
        middle = (low + high) / 2
        down, across = (max(1, math.ceil(side * middle / patch)) for side in (height, width))
        low, high = (middle, high) if down * across <= max_patches else (low, middle)
    return tuple(max(1, math.ceil(side * low / patch)) * patch for side in (height, width))  # type: ignore[return-value]


def _resize(size: Any, side: tuple[int, ...]) -> int | tuple[int, int]:
    if isinstance(size, int):
        return size
    return int(size["shortest_edge"]) if "shortest_edge" in size else _pair(size, side)


def _pair(size: Any, side: tuple[int, ...]) -> tuple[int, int]:
    if isinstance(size, int):
        return size, size
    return int(size.get("height", side[0])), int(size.get("width", side[1]))


def _cropped(images: torch.Tensor, height: int, width: int) -> torch.Tensor:
    """Cut out the centre; smaller frames get a black border."""
    down, right = height - images.shape[2], width - images.shape[3]
    if down > 0 or right > 0:
        down, right = max(down, 0), max(right, 0)
        images = F.pad(images, (right // 2, right - right // 2, down // 2, down - down // 2))
    top, left = (images.shape[2] - height) // 2, (images.shape[3] - width) // 2
    return images[:, :, top : top + height, left : left + width]
