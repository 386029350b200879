"""What the processors of the makers, in transformers, make of one clip: fills `makers.json`. Needs torchvision.

`python -m tests.hub.maker_processors` writes it. The processors get the frames of the makers' examples, at the size of
the tiny models of `generative_folders`, and the metadata of the file. `token*5` stands for five tokens.
"""

import json
import re
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import transformers
from PIL import Image

from tests.hub import generative_folders as tiny
from tests.hub.picture_folders import PICTURES

FILE = Path(__file__).with_name("makers.json")
# A clip of 3.7 s; its frames have other pixels each.
TOTAL, RATE, SIDE = 37, 10, (20, 30)
PLACES = re.compile(
    r"(<\|video_pad\|>|<\|VIDEO\|>|<\|image\|>|<video>|<image>|<IMG_CONTEXT>|<image_soft_token>|<\|IMG_PATCH\|>)\1*"
)
GRIDS = {**tiny.PATCHED, "temporal_patch_size": 1, "size": {"shortest_edge": 16 * 16, "longest_edge": 4 * 24 * 24}}
OMNI = {"image_token": "<|IMAGE|>", "audio_token": "<|AUDIO|>", "video_token": "<|VIDEO|>"}
ENDS = ("vision_bos_token", "vision_eos_token", "audio_bos_token", "audio_eos_token")


def frames() -> np.ndarray:
    return np.random.default_rng(0).integers(0, 256, (TOTAL, *SIDE, 3), np.uint8)


def shortened(text: str) -> str:
    """Write runs of the clip's places as `token*5`."""
    return PLACES.sub(lambda run: f"{run[1]}*{len(run[0]) // len(run[1])}", text)


def filled(tokenizer: Any, ids: Any) -> str:
    """The text of tokens, without the start and end that the tokenizer adds."""
    words = [word for word in tokenizer.convert_ids_to_tokens(list(ids)) if word not in ("<s>", "</s>")]
    return shortened("".join(words).replace("Ġ", " ").replace("Ċ", "\n"))


def qwen_frames() -> list[int]:
    """qwen-vl-utils: two frames per second, four at least, an even number, evenly from the first to the last."""
    count = min(max(TOTAL / RATE * 2.0, 4), TOTAL // 2 * 2, TOTAL) // 2 * 2
    return np.linspace(0, TOTAL - 1, int(count)).round().astype(int).tolist()


def _videos(module: str, name: str, **settings: Any) -> Any:
    return getattr(import_module(f"transformers.models.{module}.video_processing_{module}"), name)(**settings)


def _images(module: str, name: str) -> Any:
    return getattr(import_module(f"transformers.models.{module}.image_processing_pil_{module}"), f"{name}Pil")()


def _named(tokenizer: Any, **names: str) -> Any:
    tokenizer._set_model_specific_special_tokens(names)
    return tokenizer


def _qwen(family: str) -> Any:
    images, tokenizer = _images("qwen2_vl", "Qwen2VLImageProcessor"), tiny.talkative()
    if family in ("qwen2_vl", "qwen2_5_vl"):
        kind = transformers.Qwen2VLProcessor if family == "qwen2_vl" else transformers.Qwen2_5_VLProcessor
        return kind(images, tokenizer, _videos("qwen2_vl", "Qwen2VLVideoProcessor", **tiny.PATCHED))
    if family.startswith(("qwen3_vl", "qwen3_5")):
        return transformers.Qwen3VLProcessor(
            images, tokenizer, _videos("qwen3_vl", "Qwen3VLVideoProcessor", **tiny.WHOLE_VIDEO)
        )
    marks, kind = (
        ("<|VIDEO|>", "<|IMAGE|>", "<|AUDIO|>", "<|vision_bos|>", "<|vision_eos|>"),
        transformers.Qwen2_5OmniProcessor,
    )
    names = {**OMNI, **dict(zip(ENDS, 2 * marks[3:], strict=True))}
    if family.startswith("qwen3"):
        marks, kind = ("<|audio_pad|>",), transformers.Qwen3OmniMoeProcessor
        ends = dict(zip(ENDS, 2 * ("<|vision_start|>", "<|vision_end|>"), strict=True))
        names = {"image_token": "<|image_pad|>", "audio_token": "<|audio_pad|>", "video_token": "<|video_pad|>", **ends}
    videos = _videos("qwen2_vl", "Qwen2VLVideoProcessor", **tiny.PATCHED)
    return kind(images, videos, transformers.WhisperFeatureExtractor(), _named(tiny.talkative(marks), **names))


def _other(family: str) -> Any:
    qwen = _images("qwen2_vl", "Qwen2VLImageProcessor")
    if family.startswith("glm"):
        name, kind = ("glm46v", "Glm46V") if family == "glm46v" else ("glm4v", "Glm4v")
        videos = _videos(
            name, f"{kind}VideoProcessor", **tiny.WHOLE_VIDEO, **({} if name == "glm46v" else {"max_duration": 300})
        )
        return getattr(transformers, f"{kind}Processor")(qwen, tiny.talkative(tiny.GLM_MARKS), videos)
    if family == "video_llama_3":
        videos = _videos(family, "VideoLlama3VideoProcessor", **GRIDS, fps=1, use_token_compression=True)
        return transformers.VideoLlama3Processor(qwen, tiny.talkative(), videos)
    if family == "smolvlm":
        sizes = {**tiny.PICTURE, "resample": 1, "size": {"longest_edge": 32}, "max_image_size": {"longest_edge": 16}}
        sampling = {"fps": 1, "max_frames": 64, "video_size": {"longest_edge": 32}}
        videos = _videos(family, "SmolVLMVideoProcessor", **sizes, video_sampling=sampling)
        tokenizer = tiny.talkative(("<fake_token_around_image>", "<global-img>"))
        images = _images(family, "SmolVLMImageProcessor")
        return transformers.SmolVLMProcessor(images, tokenizer, videos, image_seq_len=4)
    if family == "internvl":
        names = {"start_image_token": "<img>", "end_image_token": "</img>", "context_image_token": "<IMG_CONTEXT>"}
        videos = _videos(family, "InternVLVideoProcessor", **tiny.SQUARE, num_frames=8, initial_shift=True)
        tokenizer = _named(tiny.talkative(), **names, video_token="<video>")
        return transformers.InternVLProcessor(
            _images("got_ocr2", "GotOcr2ImageProcessor"), tokenizer, videos, image_seq_length=4
        )
    if family == "llava_onevision":
        videos = _videos(family, "LlavaOnevisionVideoProcessor", **tiny.SQUARE, num_frames=8)
        images = _images(family, "LlavaOnevisionImageProcessor")
        more = {"num_image_tokens": 16, "vision_feature_select_strategy": "full"}
        return transformers.LlavaOnevisionProcessor(images, tiny.talkative(), videos, **more)
    more = {"patch_size": 4, "vision_feature_select_strategy": "default", "num_additional_image_tokens": 1}
    if family == "llava_next_video":
        videos = _videos(family, "LlavaNextVideoVideoProcessor", **tiny.CROPPED, num_frames=8)
        return transformers.LlavaNextVideoProcessor(
            videos, _images("llava_next", "LlavaNextImageProcessor"), tiny.talkative(), **more
        )
    videos = _videos(family, "VideoLlavaVideoProcessor", **tiny.CROPPED, num_frames=8)
    return transformers.VideoLlavaProcessor(_images("clip", "CLIPImageProcessor"), videos, tiny.talkative(), **more)


def of_video(family: str, mark: str) -> dict[str, Any]:
    """The row of a family that is shown videos."""
    processor = _qwen(family) if family.startswith("qwen") else _other(family)
    metadata: dict[str, Any] = {"fps": RATE, "total_num_frames": TOTAL, "duration": TOTAL / RATE}
    video, options = frames(), dict[str, Any](do_sample_frames=True)
    numbers: list[int] = []
    if family.startswith("qwen"):
        numbers = qwen_frames()
        video, options = video[numbers], dict[str, Any](do_sample_frames=False)
        metadata["frames_indices"] = numbers
        if "omni" in family:
            # This processor has bounds of its own, above those of its part for videos.
            options |= {"fps": len(numbers) / TOTAL * RATE, "size": tiny.PATCHED["size"]}
    out = processor(
        text=[mark], videos=[video], video_metadata=[metadata], return_metadata=True, return_tensors="pt", **options
    )
    text = filled(processor.tokenizer, out["input_ids"][0])
    if family.startswith(("qwen3_vl", "qwen3_5")):
        # Their first release (transformers 4.57) replaced the whole mark; later ones leave a pair of ends around it.
        text = text.removeprefix("<|vision_start|>").removesuffix("<|vision_end|>")
    if not numbers:
        shown = processor.video_processor([video], video_metadata=[metadata], return_metadata=True, **options)
        numbers = [int(number) for number in shown["video_metadata"][0].frames_indices]
    seconds = out.get("second_per_grid_ts", out.get("video_second_per_grid"))
    per_pair = {} if seconds is None else {"seconds_per_pair": round(float(seconds[0]), 5)}
    return {"frames": numbers, "clip": text, **per_pair}


def of_pictures(family: str, mark: str, folder: Path) -> dict[str, Any]:
    """The row of a family that is shown pictures: the frames of lmms-eval, each a picture of its own."""
    numbers = np.linspace(0, TOTAL - 1, 8, dtype=int).tolist()
    pictures = [Image.fromarray(frames()[number]) for number in numbers]
    if family == "llava_next":
        images = import_module("transformers.models.llava_next.image_processing_pil_llava_next")
        sizes = {**tiny.CROPPED, "image_grid_pinpoints": [[16, 32], [32, 16], [32, 32]]}
        more = {"patch_size": 4, "vision_feature_select_strategy": "default", "num_additional_image_tokens": 1}
        processor = transformers.LlavaNextProcessor(
            images.LlavaNextImageProcessorPil(**sizes), tiny.talkative(), **more
        )
    else:
        processor = transformers.AutoProcessor.from_pretrained(PICTURES[family](folder / family), backend="pil")
    out = processor(text=[mark * len(pictures)], images=[pictures], return_tensors="pt")
    return {"frames": numbers, "clip": filled(processor.tokenizer, out["input_ids"][0])}


def main(folder: Path) -> None:
    rows = json.loads(FILE.read_text())
    for family, row in rows.items():
        pictured = family == "llava_next" or family in PICTURES
        row.update(of_pictures(family, row["mark"], folder) if pictured else of_video(family, row["mark"]))
    FILE.write_text(json.dumps(rows, indent=1, ensure_ascii=False) + "\n")
