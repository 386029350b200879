"""Students give what their adapters give, learn on both sides, and end in a folder that the adapters load."""

import numpy as np
import pytest
import torch

from foilworks.core.hub.adapters.tiny_video import TinyConfig, TinyVideoText, Words, save_model
from foilworks.core.hub.adapters.video_text import PeVideo
from foilworks.core.hub.errors import HubError
from foilworks.core.hub.interfaces import VideoMeta
from foilworks.core.hub.loading.pretrained import Pretrained
from foilworks.core.hub.opening import open_adapter
from foilworks.core.hub.training.dual_encoders import PeVideoStudent, open_student
from tests.hub import folders, video_folders

TEXTS = ["a man opens a door", "a man closes a door", "two cats sleep"]


def tiny(folder):
    torch.manual_seed(0)
    words = Words.of(TEXTS)
    model = TinyVideoText(TinyConfig("temporal", "tiny/t", frames=4, size=16, width=16), len(words.entries))
    return f"tiny:{save_model(folder, model, words, {})}"


SPECS = {
    "tiny": lambda path: tiny(path / "tiny"),
    "clip": lambda path: f"clip:{folders.clip(path / 'clip')}?frames=2",
    "siglip": lambda path: f"clip:{folders.clip(path / 'siglip', siglip=True)}?frames=2",
    "siglip2": lambda path: f"clip:{video_folders.siglip2(path / 'siglip2')}?frames=2",
    "videoprism": lambda path: f"video:{video_folders.videoprism(path / 'videoprism')}",
    "xclip": lambda path: f"xclip:{video_folders.xclip(path / 'xclip')}",
}


def reader(frames, size):
    drawn = np.random.default_rng(0).integers(0, 255, (3, frames, *size, 3), dtype=np.uint8)
    return lambda place: (drawn[place], VideoMeta(key=f"clip {place}"))


@pytest.fixture(params=SPECS)
def student(request, tmp_path):
    spec = SPECS[request.param](tmp_path)
    info = open_adapter(spec, device="cpu").info
    return open_student(spec, reader(info.frames, info.size or (16, 16)), device="cpu")


def by_adapter(adapter, student):
    clips = [student.read(place)[0] for place in range(3)]
    videos = adapter.encode_video(clips, [VideoMeta()] * 3)
    return adapter.score(videos, adapter.encode_text(TEXTS))


def by_student(student):
    videos, texts = student.encode_video(np.arange(3)), student.encode_text(TEXTS)
    return student.similar(videos, texts), videos, texts


def test_a_student_gives_the_cosines_of_its_adapter(student):
    every, videos, texts = by_student(student)
    np.testing.assert_allclose(every.detach().numpy(), by_adapter(student.adapter, student), atol=1e-5)
    own = student.similar(videos, texts[torch.tensor([[0, 1], [2, 0], [1, 1]])])
    picked = every[torch.arange(3)[:, None], torch.tensor([[0, 1], [2, 0], [1, 1]])]
    torch.testing.assert_close(own, picked, atol=1e-5, rtol=0)


def test_both_sides_learn_and_the_saved_folder_scores_as_the_student_does(student, tmp_path):
    optimizer = torch.optim.AdamW(student.module.parameters(), lr=1e-2)
    before = by_adapter(student.adapter, student)
    every, videos, texts = by_student(student)
    videos.retain_grad()
    texts.retain_grad()
    every.diagonal().sum().neg().backward()
    assert videos.grad.abs().sum() > 0
    assert texts.grad.abs().sum() > 0
    optimizer.step()
    after = by_adapter(student.adapter, student)
    assert np.abs(after - before).max() > 1e-3
    spec = student.save(tmp_path / "learned", {"objective": "lgt"})
    assert not list((tmp_path / "learned").glob("*.bin"))
    loaded = open_adapter(spec, device="cpu")
    assert loaded.info.frames == student.adapter.info.frames
    np.testing.assert_allclose(by_adapter(loaded, student), after, atol=1e-5)


def test_pe_video_trains_on_the_product_that_it_scores_with():
    model, tokenizer = video_folders.pe_video()
    adapter = PeVideo(Pretrained(model, "pe", "1", torch.device("cpu")), tokenizer, video_folders.PROCESSOR, 4)
    learner = PeVideoStudent(adapter, "video:pe", reader(4, (16, 16)))
    with pytest.raises(HubError, match="its scale is 0; set contrastive_temperature"):
        _ = learner.own_temperature
    torch.nn.init.constant_(model.text_video_logit_scale, 8.0)
    scale, bias = (float(getattr(model, f"text_video_logit_{part}").detach()) for part in ("scale", "bias"))
    every, videos, texts = by_student(learner)
    np.testing.assert_allclose(every.detach().numpy() * scale + bias, by_adapter(adapter, learner), atol=1e-4)
    own = learner.similar(videos, texts[torch.tensor([[0, 1]] * 3)])
    torch.testing.assert_close(own, every[:, :2], atol=1e-5, rtol=0)
    assert learner.own_temperature == pytest.approx(1 / scale)
    every.diagonal().sum().neg().backward()
    assert model.video_head.proj.weight.grad.abs().sum() > 0
    assert model.text_video_head.proj.weight.grad.abs().sum() > 0


def test_the_temperature_of_a_checkpoint_is_that_of_its_logit_scale(student):
    scale = getattr(student.module, student.scale, None)
    if scale is None:
        with pytest.raises(HubError, match="has no logit scale; set contrastive_temperature to a number"):
            _ = student.own_temperature
    else:
        assert student.own_temperature == pytest.approx(1 / float(scale.detach().exp()))


def test_the_error_says_which_models_can_be_trained(tmp_path):
    read = reader(2, (16, 16))
    with pytest.raises(HubError, match="cannot be trained; name a dual encoder"):
        open_student("fake:", read)
    with pytest.raises(HubError, match="there is no such model folder"):
        open_student(f"tiny:{tmp_path / 'none'}", read)
    with pytest.raises(HubError, match="leave pooling out"):
        open_student(f"clip:{folders.clip(tmp_path / 'c')}?pooling=logits", read)
    student = open_student(tiny(tmp_path / "t"), reader(2, (16, 16)))
    with pytest.raises(HubError, match="clip 'clip 0'"):
        student.encode_video(np.arange(1))
