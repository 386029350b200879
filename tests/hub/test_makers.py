"""Rendered prompts, frames and times of 22 families are those of their makers' examples or of lmms-eval's adapters.

`makers.json` has one row per family, with its sources. `maker_processors.py` fills it, where torchvision loads.
"""

import inspect
import json
import re
from pathlib import Path

import numpy as np
import pytest
import torch

from foilworks.core.hub.adapters.generative import DESCRIBE, GenerativeModel
from foilworks.core.hub.batching.video_families import FAMILIES as KNOWN
from foilworks.core.hub.batching.video_inputs import SECONDS_PER_PAIR
from foilworks.core.hub.errors import HubError
from foilworks.core.hub.interfaces import VideoMeta
from foilworks.core.hub.opening import open_adapter
from foilworks.core.hub.shown_frames import sampling_of
from foilworks.core.media.encode import write_mp4
from foilworks.core.media.maker_frames import RULES
from tests.hub import maker_processors
from tests.hub.generative_folders import FAMILIES as VIDEOS
from tests.hub.maker_processors import FILE, RATE, TOTAL, frames, shortened
from tests.hub.picture_folders import PICTURES
from tests.hub.untested_folders import folder_of
from tests.media.painted import painted_clip, read_index

FAMILIES = {**VIDEOS, **PICTURES}
MAKERS = json.loads(FILE.read_text())
TEXTS = ["a man folds a red shirt", "a ring"]
QUICK = ("qwen2_5_vl", "gemma3")


@pytest.fixture(scope="module")
def film(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("film") / "film.mp4"
    write_mp4(path, painted_clip(TOTAL), fps=RATE)
    return path


@pytest.fixture(
    scope="module", params=[name if name in QUICK else pytest.param(name, marks=pytest.mark.full) for name in MAKERS]
)
def family(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(scope="module")
def adapter(family: str, tmp_path_factory: pytest.TempPathFactory) -> GenerativeModel:
    """The tiny model with a template that writes what the makers' does around and for the clip."""
    folder = FAMILIES[family](tmp_path_factory.mktemp("makers") / family)
    row = MAKERS[family]
    around = [json.dumps(text) for text in row["prompt"].split("{clip}{question}")]
    part = f"part.text if part.type == 'text' else {json.dumps(row['mark'])}"
    loop = f"{{% for part in messages[0].content %}}{{{{ {part} }}}}{{% endfor %}}"
    # LLaVA-NeXT-Video, Video-LLaVA and SmolVLM have the template of the product.
    if (file := folder / "chat_template.jinja").exists():
        file.write_text(f"{{{{ {around[0]} }}}}{loop}{{{{ {around[1]} }}}}")
    return open_adapter(f"vlm:{folder}?sampling=maker", device="cpu")


def shown(family: str) -> tuple[np.ndarray, VideoMeta]:
    numbers = MAKERS[family]["frames"]
    return frames()[numbers], VideoMeta("film", tuple(number / RATE for number in numbers), seconds=TOTAL / RATE)


def expected(family: str) -> str:
    row = MAKERS[family]
    return row["prompt"].format(clip=row["clip"], question=DESCRIBE)


def test_every_family_with_an_adapter_has_a_row_with_its_sources() -> None:
    assert set(MAKERS) == set(KNOWN)
    assert len(MAKERS) >= 20
    assert all(row["prompt_source"] and row["frames_source"] for row in MAKERS.values())


def test_frames_are_those_of_the_makers(adapter: GenerativeModel, family: str, film: Path) -> None:
    sample = sampling_of(adapter.info).sample(film)
    assert [read_index(frame) for frame in sample.frames] == MAKERS[family]["frames"]
    assert sample.times == pytest.approx(np.array(MAKERS[family]["frames"]) / RATE, abs=1e-3)
    assert sample.seconds == pytest.approx(TOTAL / RATE, abs=1e-3)
    assert " sampling=" in adapter.info.revision


def test_prompts_and_times_are_those_of_the_makers(adapter: GenerativeModel, family: str) -> None:
    prepared = adapter.prepare(*shown(family))
    rendered = adapter.rendered(DESCRIBE, prepared)
    assert shortened(adapter.talk.with_video(rendered, prepared.media_texts or (prepared.text,))) == expected(family)
    seconds = prepared.tensors.get(SECONDS_PER_PAIR.get(family, ""))
    assert (seconds is not None) is ("seconds_per_pair" in MAKERS[family])
    if seconds is not None:
        assert float(seconds[0]) == pytest.approx(MAKERS[family]["seconds_per_pair"], abs=1e-5)


@torch.inference_mode()
def test_scores_equal_a_forward_pass_over_the_makers_prompt(adapter: GenerativeModel, family: str) -> None:
    clip, meta = shown(family)
    scores = adapter.score(clip, TEXTS, meta=meta)
    text = re.sub(r"(<[^<>]+>)\*(\d+)", lambda run: run[1] * int(run[2]), expected(family))
    prompt = adapter.talk.prefix_ids(text)
    tensors = adapter.prepare(clip, meta).tensors
    for answer, score in zip(TEXTS, scores, strict=True):
        ids = adapter.talk.continued_ids(text, answer)
        whole = torch.tensor([prompt + ids])
        inputs = {**tensors, **_types(adapter, whole), "input_ids": whole, "attention_mask": torch.ones_like(whole)}
        logits = adapter.model(**inputs).logits[0, -1 - len(ids) : -1]
        direct = torch.log_softmax(logits.float(), 1).gather(1, torch.tensor([ids]).T).mean()
        assert score.value == pytest.approx(float(direct), abs=1e-5)


def _types(adapter: GenerativeModel, ids: torch.Tensor) -> dict[str, torch.Tensor]:
    """1 for the places of pictures and 2 for those of videos, where the model asks for it."""
    named = inspect.signature(adapter.model.forward).parameters
    places = (ids == adapter.prefixes.video_token).long()
    if "mm_token_type_ids" in named:
        is_video = adapter.family.media_type == "video"
        return {"mm_token_type_ids": places * (2 if is_video else 1)}
    return {"token_type_ids": places} if adapter.family.type_ids else {}


# transformers makes arrays of tensors in a way that numpy will refuse.
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.full
@pytest.mark.parametrize("name", [name for name in MAKERS if name not in PICTURES and name != "llava_next"])
def test_the_makers_processors_still_say_so(name: str) -> None:
    pytest.importorskip("torchvision", reason="the makers' processors of videos need it")
    if name == "smolvlm":
        pytest.importorskip("num2words")
    row = {key: value for key, value in MAKERS[name].items() if key in ("frames", "clip", "seconds_per_pair")}
    assert maker_processors.of_video(name, MAKERS[name]["mark"]) == row


# (rule, frames, rate, most, per second), then the count, the first and the last. The processors of transformers 5.24
# gave those of glm4v, smolvlm and video-llama-3; the others follow from the published formulas.
LONG = [
    ("qwen", 300, 30.0, 768, 2.0, 20, [0, 16, 31, 47], 299),
    ("qwen", 3, 10.0, 768, 2.0, 2, [0, 2], 2),
    ("glm4v", 300, 30.0, 600, 2.0, 20, [0, 15, 30, 45], 285),
    ("smolvlm", 3000, 30.0, 64, 1.0, 64, [30, 76, 123, 170], 2970),
    ("video-llama-3", 300, 30.0, 180, 1.0, 10, [0, 30, 60, 90], 270),
    ("first-to-last", 300, 30.0, 8, 0.0, 8, [0, 42, 85, 128], 299),
    ("starts", 300, 30.0, 8, 0.0, 8, [0, 37, 75, 112], 262),
]


@pytest.mark.parametrize(("rule", "total", "rate", "most", "fps", "count", "first", "last"), LONG)
def test_rules_of_long_and_short_clips(rule, total, rate, most, fps, count, first, last) -> None:
    numbers = RULES[rule](total, rate, most, fps)
    assert (len(numbers), numbers[: len(first)], numbers[-1]) == (count, first, last)


def test_frames_of_a_trim_are_counted_within_it(film: Path, tmp_path: Path) -> None:
    adapter = open_adapter(f"vlm:{VIDEOS['video_llava'](tmp_path / 'm')}?sampling=maker&frames=4", device="cpu")
    sample = sampling_of(adapter.info).sample(film, 1.0, 2.0)
    assert [read_index(frame) for frame in sample.frames] == [10, 12, 15, 17]


def test_makers_frames_of_an_untested_family_are_unknown(tmp_path: Path) -> None:
    with pytest.raises(HubError, match="known of tested families only"):
        open_adapter(f"vlm:{folder_of('janus', tmp_path / 'm')}?sampling=maker", device="cpu")
