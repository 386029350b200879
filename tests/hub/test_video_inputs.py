"""Video tensors by our own code, against what transformers' own video processors gave.

Those need torchvision, which is not installed here. The numbers were taken with torchvision 0.28 and transformers 5.23
(GLM and SmolVLM: 5.24) at the processors' defaults: shape, sum, and sum weighted by cos(0), cos(1), cos(2) ... over the
flat tensor.
"""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from PIL import Image
from transformers import LlavaNextProcessor
from transformers.models.llava_next.image_processing_pil_llava_next import LlavaNextImageProcessorPil

from foilworks.core.hub.batching.video_families import FAMILIES, settings_of
from foilworks.core.hub.batching.video_inputs import TILE_SETTINGS, Clip, fitted, joined
from foilworks.core.hub.loading.processor_files import video_settings
from tests.hub.generative_folders import talkative

TIMES = (0.0, 0.5, 1.0, 1.5, 2.0)
GOLDEN = {
    "llava_next_video": ((5, 3, 224, 224), 113483.30, -7.3784),
    "video_llava": ((5, 3, 224, 224), 113483.30, -7.3784),
    "llava_onevision": ((5, 3, 384, 384), 334092.81, -17.2975),
    "internvl": ((5, 3, 384, 384), 334092.81, -17.2975),
    "qwen2_vl": ((1680, 1176), 298409.55, -57.2591),
    "qwen2_5_vl": ((1680, 1176), 298409.55, -57.2591),
    "qwen2_5_omni_thinker": ((1680, 1176), 298409.55, -57.2591),
    "qwen3_omni_moe_thinker": ((1680, 1536), -50859.88, 32.1089),
    "qwen3_vl": ((420, 1536), -12699.73, 78.7994),
    "qwen3_vl_moe": ((420, 1536), -12699.73, 78.7994),
    "qwen3_5": ((420, 1536), -12699.73, 78.7994),
    "qwen3_5_moe": ((420, 1536), -12699.73, 78.7994),
    "glm4v": ((72, 1176), 12788.86, -105.2559),
    "glm4v_moe": ((72, 1176), 12788.86, -105.2559),
    "glm46v": ((72, 1176), 12788.86, -105.2559),
    "smolvlm": ((5, 3, 364, 364), -38474.28, 36.3716),
    "video_llama_3": ((2800, 588), -32465.89, -86.8397),
}
ENDS = ("<|vision_start|>", "<|vision_end|>")


def frames() -> np.ndarray:
    """Five frames of 37 x 53; the third repeats the second, the fourth repeats its left part."""
    n = np.arange(5 * 37 * 53 * 3).reshape(5, 37, 53, 3)
    found = ((n * 7919) % 251).astype(np.uint8)
    found[2] = found[1]
    found[3, :, :20] = found[2, :, :20]
    return found


def clip(family: str, times: tuple[float, ...] = TIMES) -> Clip:
    tokenizer = talkative()
    opens, closes = tokenizer.convert_tokens_to_ids(list(ENDS))
    config = SimpleNamespace(
        model_type=family,
        vision_config=SimpleNamespace(image_size=224, patch_size=14),
        spatial_pool_stride=2,
        scale_factor=3,
        image_seq_length=4,
        video_token_id=tokenizer.convert_tokens_to_ids("<video>"),
        image_token_id=tokenizer.convert_tokens_to_ids("<IMG_CONTEXT>"),
        vision_start_token_id=opens,
        vision_end_token_id=closes,
    )
    return Clip(frames(), times, settings_of(family, {}), config, tokenizer, torch.device("cpu"))


def test_every_family_has_golden_values() -> None:
    # These families' pictures go through transformers' own processors, which only need PIL.
    by_processor = {name for name, family in FAMILIES.items() if family.by_processor}
    assert set(GOLDEN) == set(FAMILIES) - {"llava_next"} - by_processor


def test_pictures_of_llava_are_those_of_its_processor() -> None:
    tokenizer = talkative()
    settings = settings_of("llava_next", {"size": {"shortest_edge": 28}, "crop_size": {"height": 28, "width": 28}})
    settings["image_grid_pinpoints"] = [[28, 56], [56, 28], [56, 56]]
    config = SimpleNamespace(
        vision_config=SimpleNamespace(patch_size=14),
        vision_feature_select_strategy="default",
        image_token_id=tokenizer.convert_tokens_to_ids("<image>"),
    )
    found = FAMILIES["llava_next"].prepare(Clip(frames(), (), settings, config, tokenizer, torch.device("cpu")))
    images = LlavaNextImageProcessorPil(**{name: settings[name] for name in TILE_SETTINGS if name in settings})
    processor = LlavaNextProcessor(
        images, tokenizer, patch_size=14, vision_feature_select_strategy="default", num_additional_image_tokens=1
    )
    pictures = [Image.fromarray(frame) for frame in frames()]
    wanted = processor(images=pictures, text=["<image>\n" * 4 + "<image>"], return_tensors="pt")
    assert tokenizer("\n".join(found.media_texts))["input_ids"] == wanted["input_ids"][0].tolist()
    torch.testing.assert_close(found.tensors["pixel_values"], wanted["pixel_values"])


@pytest.mark.parametrize("family", GOLDEN)
def test_tensors_are_those_of_the_published_processor(family: str) -> None:
    tensors = FAMILIES[family].prepare(clip(family)).tensors
    pixels = tensors["pixel_values" if family in ("internvl", "smolvlm") else "pixel_values_videos"].double()
    pixels = pixels[0] if pixels.ndim == 5 else pixels
    shape, total, weighted = GOLDEN[family]
    assert tuple(pixels.shape) == shape
    assert float(pixels.sum()) == pytest.approx(total, abs=1)
    waves = torch.cos(torch.arange(pixels.numel(), dtype=torch.float64))
    assert float((pixels.flatten() * waves).sum()) == pytest.approx(weighted, abs=2e-2)


def test_grids_and_placeholders_of_a_video() -> None:
    """As transformers' processors gave them for the same frames, shown every half second."""
    found = {family: FAMILIES[family].prepare(clip(family)) for family in GOLDEN}
    video = "<video>"
    assert found["llava_next_video"].text == video * (5 * 8 * 8)  # 16 x 16 patches, pooled by two
    assert found["video_llava"].text == video * (5 * 257)  # 16 x 16 patches and the class token
    assert found["llava_onevision"].text == video * (5 * 8 * 8 + 1)
    assert found["internvl"].text.split("\n")[4] == "Frame5: <img>" + "<IMG_CONTEXT>" * 4 + "</img>"
    assert found["qwen2_5_vl"].text == video * (3 * 20 * 28 // 4)
    assert found["qwen2_5_vl"].tensors["video_grid_thw"].tolist() == [[3, 20, 28]]
    assert found["qwen2_5_vl"].tensors["second_per_grid_ts"].tolist() == [1.0]  # two frames, .5 s each
    assert found["qwen2_5_omni_thinker"].tensors["video_second_per_grid"].tolist() == [1.0]
    # Five frames make pairs of (0, .5), (1, 1.5) and (2, 2).
    pair = ENDS[0] + video * 35 + ENDS[1]
    assert found["qwen3_vl"].text == f"<0.2 seconds>{pair}<1.2 seconds>{pair}<2.0 seconds>{pair}"
    picture = "<IMG_CONTEXT>" * (4 * 6 // 4)
    shown = [f"<|begin_of_image|>{picture}<|end_of_image|>{{}}".format(second) for second in ("0", "1", "2")]
    assert found["glm4v"].text == found["glm4v_moe"].text == "".join(shown)
    assert found["glm46v"].text == "".join(f"{one}.0 seconds" for one in shown)
    around, squares = "<fake_token_around_image>", "<IMG_CONTEXT>" * ((364 // 14) ** 2 // 9)
    smol = found["smolvlm"].text.split("\n")
    assert smol[0] == "You are provided the following series of five frames from a 0:00:02 [H:MM:SS] video."
    assert smol[2:4] == [f"Frame from 00:0{n}:{around}<global-img>{squares}{around}" for n in (0, 0)]
    assert (smol[6][:17], smol[7:]) == ("Frame from 00:02:", ["", ""])
    counts = [part.count(video) for part in found["video_llama_3"].text.split(",")]
    assert found["video_llama_3"].text.startswith("Time 0.0s:<video>")
    # The third frame is the second again: one token is left of it.
    assert (counts[0], counts[2], sum(counts)) == (140, 1, 515 - 1)
    assert int(found["video_llama_3"].tensors["video_compression_mask"].sum()) == sum(counts)


def test_unknown_times_are_whole_seconds() -> None:
    assert "Time 4.0s:" in FAMILIES["video_llama_3"].prepare(clip("video_llama_3", ())).text
    assert FAMILIES["qwen2_5_vl"].prepare(clip("qwen2_5_vl", ())).tensors["second_per_grid_ts"].tolist() == [2.0]


@pytest.mark.parametrize(
    ("side", "least", "most", "wanted"),
    [
        ((100, 200), 1, 10**9, (112, 196)),  # the nearest multiples of 28
        ((100, 200), 1, 5000, (28, 84)),  # 112 x 196 is too much: 100 / 2 = 50 -> 28, 200 / 2 = 100 -> 84
        ((10, 10), 3136, 10**9, (56, 56)),  # too little: 56 x 56 pixels at least
    ],
)
def test_sizes_keep_their_bounds(side: tuple[int, int], least: int, most: int, wanted: tuple[int, int]) -> None:
    assert fitted(side, 28, least, most, copies=1, rounded=1) == wanted


def test_a_settings_file_overrides_the_defaults(tmp_path: Path) -> None:
    (tmp_path / "preprocessor_config.json").write_text('{"min_pixels": 784, "max_pixels": 1568, "resample": null}')
    settings = settings_of("qwen2_5_vl", video_settings(str(tmp_path)))
    assert settings["size"] == {"shortest_edge": 784, "longest_edge": 1568}
    assert settings["resample"] == 3
    (tmp_path / "processor_config.json").write_text('{"video_processor": {"patch_size": 16}}')
    assert settings_of("qwen2_5_vl", video_settings(str(tmp_path)))["patch_size"] == 16
    # Qwen-Omni's processor bounds videos by itself; the file's numbers are for pictures.
    (tmp_path / "omni").mkdir()
    (tmp_path / "omni" / "preprocessor_config.json").write_text('{"min_pixels": 3136, "max_pixels": 12845056}')
    bounds = settings_of("qwen2_5_omni_thinker", video_settings(str(tmp_path / "omni")))["size"]
    assert bounds == {"shortest_edge": 128 * 28 * 28, "longest_edge": 768 * 28 * 28}
    # What somebody asks for stands above the file.
    assert settings_of("qwen2_5_vl", {}, 50_000)["size"] == {"shortest_edge": 50_000, "longest_edge": 50_000}


def test_clips_of_one_shape_make_one_batch() -> None:
    one = FAMILIES["video_llama_3"].prepare(clip("video_llama_3"))
    both = joined([one, one])
    assert both["video_grid_thw"].tolist() == [[5, 20, 28]] * 2
    assert both["pixel_values_videos"].shape[0] == 2 * 2800
