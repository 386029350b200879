"""Turn a clip into the tensors of each generative family, and into the text that represents it in the prompt.

The video processors of transformers need torchvision, which does not load beside a CPU torch (decision 15). These
functions replace them; tests pin them to golden values of the originals.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, Protocol

import torch
from PIL import Image
from torch import Tensor
from transformers import LlavaNextProcessor
from transformers.models.llava_next.image_processing_pil_llava_next import LlavaNextImageProcessorPil

from foilworks.core.hub.batching.pixels import Pixels
from foilworks.core.hub.interfaces import Frames
from foilworks.core.text.language.inflection import rules

TILE_SETTINGS = ("size", "crop_size", "image_grid_pinpoints", "image_mean", "image_std", "resample", "rescale_factor")
# VideoLLaMA3 drops tokens whose pixels differ from the previous frame by at most this (of 255), except one per frame.
STILL = 0.1
# How a forward names the seconds per pair of frames.
SECONDS_PER_PAIR = {
    "qwen2_5_vl": "second_per_grid_ts",
    "qwen2_5_omni_thinker": "video_second_per_grid",
    "qwen3_omni_moe_thinker": "video_second_per_grid",
}
# SmolVLM's processor enlarges no picture beyond this side.
MAX_SIDE = 4096
# What a processor returns of the text beside the tensors of pictures.
TEXT_TENSORS = frozenset({"input_ids", "attention_mask", "token_type_ids", "mm_token_type_ids"})


@dataclass(frozen=True)
class Prepared:
    """`tensors` by the names of the model's forward, for one clip (batch of one); `text`: the expanded placeholder.

    `media`: how many media the chat template gets, each in place of its own of `media_texts` if they are named.
    `frames` and their `times` in seconds: for the model's own processor.
    """

    tensors: dict[str, Tensor]
    text: str
    media: int = 1
    frames: Frames | None = None
    times: tuple[float, ...] = ()
    media_texts: tuple[str, ...] = ()


@dataclass(frozen=True)
class Clip:
    """Frames, their presentation times in seconds, and the model's settings of how to show them."""

    frames: Frames
    times: Sequence[float]
    settings: Mapping[str, Any]
    config: Any
    tokenizer: Any
    device: torch.device
    # transformers' own, for families with `by_processor`.
    processor: Any = None
    # How long the clip is, 0 if that is unknown.
    lasts: float = 0.0

    @property
    def token(self) -> str:
        """Return the token of one feature vector of a video in the prompt."""
        return self.tokenizer.convert_ids_to_tokens(self.config.video_token_id)

    @property
    def image_token(self) -> str:
        """Return the token of one feature vector of a picture in the prompt."""
        return self.tokenizer.convert_ids_to_tokens(self.config.image_token_id)

    @property
    def seconds(self) -> list[float]:
        """Return when each frame is shown; whole seconds if that is unknown."""
        return list(self.times) or [float(n) for n in range(len(self.frames))]

    @property
    def spacing(self) -> float:
        """Return the seconds of the clip per frame, or between two frames; 1 if that is unknown."""
        if self.lasts > 0:
            return self.lasts / len(self.frames)
        span = self.times[-1] - self.times[0] if len(self.times) > 1 else 0.0
        return span / (len(self.times) - 1) if span > 0 else 1.0

    def pixels(self, side: tuple[int, int] | None = None) -> Tensor:
        """Return float32 (k, 3, height, width): resized to `side` if given, otherwise by the settings."""
        image = self.config.vision_config.image_size if side is None else side
        pixels = Pixels.from_settings(self.settings, (image, image) if isinstance(image, int) else (image[0], image[1]))
        return (pixels if side is None else replace(pixels, resize=side, crop=None))(self.frames, self.device)


def llava_next_video(clip: Clip) -> Prepared:
    """Pool the patches of each frame."""
    pixels = clip.pixels()
    patch, stride = clip.config.vision_config.patch_size, clip.config.spatial_pool_stride
    a_frame = (pixels.shape[2] // patch // stride) * (pixels.shape[3] // patch // stride)
    return Prepared({"pixel_values_videos": pixels.unsqueeze(0)}, clip.token * (a_frame * len(pixels)))


def video_llava(clip: Clip) -> Prepared:
    """Show the patches of each frame and its class token."""
    pixels = clip.pixels()
    patch = clip.config.vision_config.patch_size
    a_frame = (pixels.shape[2] // patch) * (pixels.shape[3] // patch) + 1
    return Prepared({"pixel_values_videos": pixels.unsqueeze(0)}, clip.token * (a_frame * len(pixels)))


def llava_onevision(clip: Clip) -> Prepared:
    """Show the patches of each frame at half the resolution, and one token that ends the video."""
    pixels = clip.pixels()
    vision = clip.config.vision_config
    a_frame = math.ceil(vision.image_size // vision.patch_size / 2) ** 2
    return Prepared({"pixel_values_videos": pixels.unsqueeze(0)}, clip.token * (a_frame * len(pixels) + 1))


def llava_next(clip: Clip) -> Prepared:
    """Show every frame as a picture, in tiles of the size that suits its shape (LLaVA-1.6)."""
    vision, settings = clip.config.vision_config, clip.settings
    tiles = LlavaNextImageProcessorPil(**{name: settings[name] for name in TILE_SETTINGS if name in settings})
    # It counts the tokens of a picture; a CLIP tower adds the class token.
    counting = LlavaNextProcessor(
        image_processor=tiles,
        tokenizer=clip.tokenizer,
        patch_size=vision.patch_size,
        vision_feature_select_strategy=clip.config.vision_feature_select_strategy,
        image_token=clip.image_token,
        num_additional_image_tokens=1,
    )
    inputs = tiles(images=[Image.fromarray(frame) for frame in clip.frames], return_tensors="pt")
    texts = [counting.replace_image_token(inputs, at) for at in range(len(clip.frames))]
    return _by_picture({name: inputs[name].to(clip.device) for name in ("pixel_values", "image_sizes")}, texts)


def internvl(clip: Clip) -> Prepared:
    """Show every frame as a numbered picture of one tile."""
    pixels = clip.pixels()
    image = clip.image_token * clip.config.image_seq_length
    opens, closes = (getattr(clip.tokenizer, f"{which}_image_token", None) for which in ("start", "end"))
    frames = [f"Frame{n + 1}: {opens or '<img>'}{image}{closes or '</img>'}" for n in range(len(pixels))]
    return Prepared({"pixel_values": pixels}, "\n".join(frames))


def qwen2_vl(clip: Clip) -> Prepared:
    """Turn pairs of frames into patches; from Qwen2.5 on, their spacing in time is part of the positions."""
    patches, grid = _patches(clip, _frame_size)
    merged = int(grid.prod()) // clip.settings["merge_size"] ** 2
    tensors = {"pixel_values_videos": patches, "video_grid_thw": grid.unsqueeze(0)}
    if clip.config.model_type in SECONDS_PER_PAIR:
        seconds = clip.settings["temporal_patch_size"] * clip.spacing
        tensors[SECONDS_PER_PAIR[clip.config.model_type]] = torch.tensor([seconds], device=clip.device)
    return Prepared(tensors, clip.token * merged)


def qwen3_vl(clip: Clip) -> Prepared:
    """Turn pairs of frames into patches, each pair after the second at which it is shown."""
    patches, grid = _patches(clip, _video_size)
    pairs, height, width = (int(n) for n in grid)
    tokens = clip.token * (height * width // clip.settings["merge_size"] ** 2)
    step = clip.settings["temporal_patch_size"]
    times = clip.seconds
    times += times[-1:] * (-len(times) % step)
    pair_seconds = [(times[at] + times[at + step - 1]) / 2 for at in range(0, len(times), step)]
    opens, closes = (clip.tokenizer.convert_ids_to_tokens(at) for at in _vision_ends(clip.config))
    text = "".join(f"<{second:.1f} seconds>{opens}{tokens}{closes}" for second in pair_seconds[:pairs])
    return Prepared({"pixel_values_videos": patches, "video_grid_thw": grid.unsqueeze(0)}, text)


def video_llama_3(clip: Clip) -> Prepared:
    """Show frame by frame with its second, without the patches that did not change since the frame before."""
    patches, grid = _patches(clip, _shared_size)
    merge = clip.settings["merge_size"]
    is_read = (
        _changed(patches, grid.tolist(), merge)
        if clip.settings["use_token_compression"]
        else torch.ones(int(grid.prod()) // merge**2, dtype=torch.bool, device=clip.device)
    )
    counts = is_read.view(int(grid[0]), -1).sum(1).tolist()
    text = ",".join(f"Time {time:.1f}s:{clip.token * count}" for time, count in zip(clip.seconds, counts, strict=False))
    tensors = {
        "pixel_values_videos": patches,
        "video_grid_thw": grid.unsqueeze(0),
        "video_merge_sizes": torch.tensor([merge], device=clip.device),
        "video_compression_mask": is_read,
    }
    return Prepared(tensors, text)


def glm4v(clip: Clip) -> Prepared:
    """Turn pairs of frames into patches, each pair a picture followed by the second of its first frame."""
    patches, grid = _patches(clip, _video_size)
    pairs, height, width = (int(n) for n in grid)
    picture = clip.image_token * (height * width // clip.settings["merge_size"] ** 2)
    pair_seconds = clip.seconds[:: clip.settings["temporal_patch_size"]][:pairs]
    has_whole_seconds = clip.config.model_type != "glm46v"
    text = "".join(
        f"<|begin_of_image|>{picture}<|end_of_image|>{int(time) if has_whole_seconds else f'{time:.1f} seconds'}"
        for time in pair_seconds
    )
    return Prepared({"pixel_values_videos": patches, "video_grid_thw": grid.unsqueeze(0)}, text)


def smolvlm(clip: Clip) -> Prepared:
    """Turn frames into squares, each after its minute and second, below the number of frames and the last second."""
    settings, vision = clip.settings, clip.config.vision_config
    side = int(settings["max_image_size"]["longest_edge"])
    size = (settings.get("video_sampling") or {}).get("video_size") or settings["size"]
    pixels = Pixels.from_settings(settings, (side, side))
    longest = with_longest_side(clip.frames.shape[1:3], int(size["longest_edge"]))
    frames = replace(pixels, resize=longest, crop=None).smaller(clip.frames)
    values = replace(pixels, resize=(side, side), crop=None)(frames, clip.device)
    picture = clip.image_token * ((side // vision.patch_size) ** 2 // clip.config.scale_factor**2)
    around = "<fake_token_around_image>"
    frame_texts = "".join(
        f"\nFrame from {int(time // 60):02d}:{int(time % 60):02d}:{around}<global-img>{picture}{around}"
        for time in clip.seconds
    )
    count = rules().number_to_words(len(values))
    span = timedelta(seconds=int(clip.lasts or clip.seconds[-1]))
    opens = f"You are provided the following series of {count} frames from a {span} [H:MM:SS] video.\n"
    return Prepared({"pixel_values": values.unsqueeze(0)}, f"{opens}{frame_texts}\n\n")


def pictures(clip: Clip) -> Prepared:
    """Turn every frame into a picture by the model's own processor, which counts its tokens."""
    frames = [Image.fromarray(frame) for frame in clip.frames]
    inputs = clip.processor(
        images=[frames],
        text=[clip.processor.image_token * len(frames)],
        return_tensors="pt",
        return_text_replacement_offsets=True,
    )
    (replaced,) = inputs.pop("text_replacement_offsets")
    tensors = {name: value.to(clip.device) for name, value in inputs.items() if name not in TEXT_TENSORS}
    return _by_picture(tensors, [replacement["replacement"] for replacement in replaced])


def _by_picture(tensors: dict[str, Tensor], texts: Sequence[str]) -> Prepared:
    """Every picture is a medium of its own, so that the chat template says what is between them."""
    return Prepared(tensors, "".join(texts), len(texts), media_texts=tuple(texts))


def with_longest_side(side: tuple[int, ...], longest: int) -> tuple[int, int]:
    """Return (height, width) in the picture's shape with this longer side; the shorter one is rounded up to be even."""
    height, width = side
    longest = min(longest, MAX_SIDE)
    if width >= height:
        shorter = int(longest / (width / height))
        return max(1, shorter + shorter % 2), longest
    shorter = int(longest * (width / height))
    return longest, max(1, shorter + shorter % 2)


def _vision_ends(config: Any) -> tuple[int, int]:
    return config.vision_start_token_id, config.vision_end_token_id


def _changed(patches: Tensor, grid: Sequence[int], merge: int) -> Tensor:
    """Return which merged patches of (t, h, w) to keep: bool (t * h * w / merge**2,)."""
    t, h, w = grid
    if t == 1:
        return torch.ones(h * w // merge**2, dtype=torch.bool, device=patches.device)
    images = patches.view(t, (h // merge) * (w // merge), -1)
    change = (images[1:] - images[:-1]).abs().mean(-1) * 255
    is_changed = torch.cat([torch.ones_like(change[:1], dtype=torch.bool), change > STILL])
    is_changed[is_changed.sum(1) < 1, :1] = True
    return is_changed.flatten()


def _patches(clip: Clip, size: Callable[[Clip, int], tuple[int, int]]) -> tuple[Tensor, Tensor]:
    """Return patches (t * h * w, channels * step * patch * patch) in the order of merged squares, and the grid (t, h,
    w)."""
    patch, merge, step = (clip.settings[name] for name in ("patch_size", "merge_size", "temporal_patch_size"))
    video = clip.pixels(size(clip, patch * merge))
    video = torch.cat([video, video[-1:].expand(-len(video) % step, -1, -1, -1)])
    t, h, w = len(video) // step, video.shape[2] // patch, video.shape[3] // patch
    blocks = video.view(t, step, 3, h // merge, merge, patch, w // merge, merge, patch)
    flat = blocks.permute(0, 3, 6, 4, 7, 2, 1, 5, 8).reshape(t * h * w, -1)
    return flat, torch.tensor([t, h, w], device=clip.device)


def _bounds(clip: Clip) -> tuple[int, int]:
    size = clip.settings["size"]
    return int(size["shortest_edge"]), int(size["longest_edge"])


def _frame_size(clip: Clip, factor: int) -> tuple[int, int]:
    """Keep the pixels of one frame within bounds (Qwen2-VL)."""
    return fitted(clip.frames.shape[1:3], factor, *_bounds(clip), copies=1, rounded=1)


def _shared_size(clip: Clip, factor: int) -> tuple[int, int]:
    """Share the upper bound between all frames (VideoLLaMA3)."""
    min_pixels, max_pixels = _bounds(clip)
    return fitted(clip.frames.shape[1:3], factor, min_pixels, max_pixels // len(clip.frames), copies=1, rounded=1)


def _video_size(clip: Clip, factor: int) -> tuple[int, int]:
    """Keep the pixels of all frames together within bounds; enlarge very small frames first (Qwen3-VL, GLM)."""
    height, width = clip.frames.shape[1:3]
    step, k = clip.settings["temporal_patch_size"], len(clip.frames)
    if height < factor or width < factor:
        scale = max(factor / height, factor / width)
        height, width = int(height * scale), int(width * scale)
    return fitted((height, width), factor, *_bounds(clip), copies=k, rounded=round(k / step) * step)


def fitted(
    side: tuple[int, ...], factor: int, min_pixels: int, max_pixels: int, *, copies: int, rounded: int
) -> tuple[int, int]:
    """Return (height, width) near `side`, multiples of `factor`, so that `copies` pictures have `min_pixels` to
    `max_pixels` pixels."""
    height, width = side
    height_to, width_to = (round(length / factor) * factor for length in (height, width))
    if rounded * height_to * width_to > max_pixels:
        beta = math.sqrt(copies * height * width / max_pixels)
        height_to, width_to = (max(factor, math.floor(n / beta / factor) * factor) for n in (height, width))
    elif rounded * height_to * width_to < min_pixels:
        beta = math.sqrt(min_pixels / (copies * height * width))
        height_to, width_to = (math.ceil(n * beta / factor) * factor for n in (height, width))
    return height_to, width_to


class HasTensors(Protocol):
    """A clip, or a prompt with one."""

    @property
    def tensors(self) -> Mapping[str, Tensor]: ...


def joined(clips: Sequence[HasTensors]) -> dict[str, Tensor]:
    """Concatenate the tensors of several clips into one batch."""
    return {name: torch.cat([clip_inputs.tensors[name] for clip_inputs in clips]) for name in clips[0].tensors}
