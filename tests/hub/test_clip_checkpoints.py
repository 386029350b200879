"""Files of OpenAI, open_clip and CLIP4Clip give the vectors of their own forward pass, score and train."""

import json

import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from torch import nn

from foilworks.core.hub.errors import HubError
from foilworks.core.hub.interfaces import Trust, VideoMeta
from foilworks.core.hub.opening import open_adapter
from foilworks.core.hub.training.dual_encoders import open_student
from tests.hub.clip_files import LONGEST, SIDE, OwnClip, QuickGelu, byte_pairs

TEXTS = ["a man opens a door", "a man closes a door", "two cats sleep"]
FRAMES, PERMITTED = 2, Trust(other_weights=True)
CLIPS = np.random.default_rng(0).integers(0, 255, (3, FRAMES, SIDE, SIDE, 3), dtype=np.uint8)
SIZES = {name: torch.tensor(1) for name in ("input_resolution", "context_length", "vocab_size")}
CONFIG = {"model_cfg": {"embed_dim": 8, "vision_cfg": {"width": 64}, "text_cfg": {"width": 64, "heads": 1}}}


@pytest.fixture
def model(tmp_path):
    return OwnClip(len(byte_pairs(tmp_path)), QuickGelu()).eval()


@pytest.fixture
def gelu(tmp_path):
    return OwnClip(len(byte_pairs(tmp_path)), nn.GELU()).eval()


def read(place):
    return CLIPS[place], VideoMeta(key=f"clip {place}")


def saved(folder, name, state):
    torch.save(state, folder / name)
    return f"clip:{folder / name}?frames={FRAMES}"


def given(state, prefix=""):
    return {f"{prefix}{name}": value for name, value in state.items()}


def vectors(model, student):
    """What the model's own forward pass gives for the clips' frames and for the texts."""
    ids = torch.zeros(len(TEXTS), LONGEST, dtype=torch.int64)
    for row, text in zip(ids, TEXTS, strict=True):
        numbers = student.adapter.tokenizer(text)["input_ids"]
        row[: len(numbers)] = torch.tensor(numbers)
    pixels = torch.cat([student.adapter.pixels(clip, torch.device("cpu")) for clip in CLIPS])
    with torch.no_grad():
        return model.encode_image(pixels).view(len(CLIPS), FRAMES, -1), model.encode_text(ids)


def check(model, spec, folder):
    """The same vectors and CLIP4Clip's mean of frames; then a step, after which the saved folder scores alike."""
    student = open_student(spec, read, device="cpu", trust=PERMITTED)
    frames, texts = vectors(model, student)
    with torch.no_grad():
        torch.testing.assert_close(student.adapter.frame_rows(list(CLIPS)), frames, atol=2e-5, rtol=1e-4)
        torch.testing.assert_close(student.encode_text(TEXTS), texts, atol=2e-5, rtol=1e-4)
    mean = nn.functional.normalize(nn.functional.normalize(frames, dim=-1).mean(1), dim=-1)
    expected = (mean @ nn.functional.normalize(texts, dim=-1).T).numpy()
    before = scored(student.adapter)
    np.testing.assert_allclose(before, expected, atol=1e-5)
    assert student.own_temperature == pytest.approx(float(model.logit_scale.detach().exp()) ** -1)
    optimizer = torch.optim.AdamW(student.module.parameters(), lr=1e-3)
    student.similar(student.encode_video(np.arange(3)), student.encode_text(TEXTS)).diagonal().sum().neg().backward()
    optimizer.step()
    after = scored(student.adapter)
    assert np.abs(after - before).max() > 1e-3
    spec = student.save(folder / "learnt", {})
    np.testing.assert_allclose(scored(open_adapter(spec, device="cpu")), after, atol=1e-5)


def scored(adapter):
    return adapter.score(adapter.encode_video(list(CLIPS), [VideoMeta()] * 3), adapter.encode_text(TEXTS))


def test_openai_weights_give_their_vectors_and_train(model, tmp_path):
    check(model, saved(tmp_path, "ViT.pt", {**given(model.state_dict()), **SIZES}), tmp_path)


def test_clip4clip_weights_give_their_vectors_and_train(model, tmp_path):
    check(model, saved(tmp_path, "pytorch_model.bin.4", given(model.state_dict(), "clip.")), tmp_path)


@pytest.mark.parametrize(("prefix", "option", "frames"), [("clip.", "", 12), ("clip.", "&frames=3", 3), ("", "", 8)])
def test_clip4clip_gets_the_twelve_frames_of_its_authors_unless_an_option_says_more(
    model, tmp_path, prefix, option, frames
):
    spec = saved(tmp_path, "pytorch_model.bin.4", given(model.state_dict(), prefix)).partition("?")[0]
    adapter = open_adapter(f"{spec}?activation=quick_gelu{option}", device="cpu", trust=PERMITTED)
    assert adapter.info.frames == frames
    assert f"frames={frames} " in adapter.info.revision


def test_an_open_clip_file_has_its_activation_from_the_option_or_from_its_config(gelu, tmp_path):
    spec = saved(tmp_path, "epoch_3.pt", {"epoch": 3, "state_dict": given(gelu.state_dict(), "module.")})
    with pytest.raises(HubError, match=r"does not say which activation its layers have; write \?activation=quick_gelu"):
        open_adapter(spec, device="cpu", trust=PERMITTED)
    check(gelu, f"{spec}&activation=gelu", tmp_path)
    (tmp_path / "open_clip_config.json").write_text(json.dumps(CONFIG))
    save_file(given(gelu.state_dict()), tmp_path / "open_clip_model.safetensors")
    # No permission is needed for safetensors.
    adapter = open_adapter(f"clip:{tmp_path / 'open_clip_model.safetensors'}?frames=2", device="cpu")
    chosen = open_adapter(f"{spec}&activation=gelu", device="cpu", trust=PERMITTED)
    np.testing.assert_allclose(scored(adapter), scored(chosen), atol=1e-6)


@pytest.mark.filterwarnings("ignore:.torch.jit.:DeprecationWarning")
def test_a_torchscript_archive_is_read_without_its_code(model, tmp_path):
    for name, value in SIZES.items():
        model.register_buffer(name, value)
    model.forward = model.encode_image
    pixels = torch.zeros(1, 3, SIDE, SIDE)
    ids = torch.zeros(1, LONGEST, dtype=torch.int64)
    traced = torch.jit.trace_module(model, {"forward": (pixels,), "encode_text": (ids,)}, check_trace=False)
    traced.save(tmp_path / "ViT-B.pt")
    with pytest.raises(HubError, match=r"ViT-B.pt is not a safetensors file and is not loaded; the project's owner"):
        open_adapter(f"clip:{tmp_path / 'ViT-B.pt'}", device="cpu")
    check(model, f"clip:{tmp_path / 'ViT-B.pt'}?frames={FRAMES}", tmp_path)


def test_every_key_that_does_not_match_is_named(model, tmp_path):
    state = given(model.state_dict(), "clip.")
    del state["clip.visual.ln_post.bias"], state["clip.transformer.resblocks.1.mlp.c_fc.weight"]
    state |= {f"transformerClip.resblocks.{at}.ln_1.weight": torch.zeros(2) for at in range(4)}
    state["frame_position_embeddings.weight"] = torch.zeros(2)
    state["clip.ln_final.weight"] = torch.zeros(3)
    with pytest.raises(HubError) as caught:
        open_adapter(saved(tmp_path, "pytorch_model.bin.0", state), device="cpu", trust=PERMITTED)
    said = str(caught.value)
    assert "missing transformer.resblocks.1.mlp.c_fc.weight; missing visual.ln_post.bias; unexpected " in said
    assert "unexpected frame_position_embeddings.weight; unexpected transformerClip.resblocks.0-3.ln_1.weight" in said
    assert "ln_final.weight is (3,), not (64,)" in said


@pytest.mark.parametrize(
    ("more", "head"),
    [
        (("transformerClip.resblocks.0.ln_1.weight", "frame_position_embeddings.weight"), "seqTransf"),
        (("lstm_visual.weight_ih_l0", "frame_position_embeddings.weight"), "seqLSTM"),
        (("cross.pooler.dense.weight", "similarity_dense.weight"), "tightTransf"),
    ],
)
def test_another_head_of_clip4clip_is_named(model, tmp_path, more, head):
    state = given(model.state_dict(), "clip.") | dict.fromkeys(more, torch.zeros(2))
    with pytest.raises(
        HubError, match=rf"is CLIP4Clip with the head {head}, of which only meanP is read; give .*external"
    ):
        open_adapter(saved(tmp_path, "pytorch_model.bin.0", state), device="cpu", trust=PERMITTED)


def test_all_missing_keys_are_named_also_when_one_of_them_gives_a_size(model, tmp_path):
    state = given(model.state_dict(), "clip.")
    del state["clip.visual.proj"], state["clip.ln_final.bias"]
    with pytest.raises(HubError, match=r"missing ln_final.bias; missing visual.proj; give the weights"):
        open_adapter(saved(tmp_path, "pytorch_model.bin.0", state), device="cpu", trust=PERMITTED)


def test_paths_that_lead_nowhere_and_folders_of_files_are_answered(tmp_path):
    with pytest.raises(HubError, match=r"nothing.bin.4: there is no such file of weights; give its path from the root"):
        open_adapter(f"clip:{tmp_path / 'nothing.bin.4'}?tokenizer=x", device="cpu")
    with pytest.raises(HubError, match="a/b/c: there is no such model folder"):
        open_adapter("clip:a/b/c", device="cpu")
    (tmp_path / "pytorch_model.bin.4").touch()
    with pytest.raises(HubError, match=rf"or for a CLIP the file of its weights: clip:{tmp_path}/pytorch_model.bin.4"):
        open_adapter(f"clip:{tmp_path}", device="cpu")


@pytest.mark.parametrize(
    ("state", "problem"),
    [
        ({"visual.layer1.0.conv1.weight": torch.zeros(1)}, "unexpected visual.layer1.0.conv1.weight"),
        ({"visual.trunk.cls_token": torch.zeros(1)}, "missing visual.conv1.weight"),
        ({"state_dict": {}}, "holds no tensors by name"),
        ([torch.zeros(1)], "holds no tensors by name"),
    ],
)
def test_another_model_is_named_by_its_keys(tmp_path, state, problem):
    with pytest.raises(HubError, match=problem):
        open_adapter(saved(tmp_path, "other.pt", state), device="cpu", trust=PERMITTED)


def test_what_a_file_cannot_say_is_asked_for(model, tmp_path):
    spec = saved(tmp_path, "ViT.pt", {**given(model.state_dict()), **SIZES})
    with pytest.raises(HubError, match="activation is 'relu'; choose one of: quick_gelu, gelu"):
        open_adapter(f"{spec}&activation=relu", device="cpu", trust=PERMITTED)
    with pytest.raises(HubError, match=r"or name a folder with \?tokenizer=FOLDER"):
        open_adapter(f"{spec}&tokenizer={tmp_path / 'none'}", device="cpu", trust=PERMITTED)
    (tmp_path / "open_clip_config.json").write_text(
        json.dumps({"model_cfg": {"text_cfg": {"hf_model_name": "roberta"}}})
    )
    with pytest.raises(HubError, match=r"text_cfg.hf_model_name: not supported"):
        open_adapter(spec, device="cpu", trust=PERMITTED)
    (tmp_path / "ViT.pt").write_bytes(b"no weights")
    with pytest.raises(HubError, match="its weights cannot be read"):
        open_adapter(spec, device="cpu", trust=PERMITTED)


def test_weights_that_would_run_a_program_are_not_opened(tmp_path):
    class Bomb:
        def __reduce__(self):
            return (exec, (f"open({str(tmp_path / 'ran')!r}, 'w')",))

    torch.save({"visual.conv1.weight": Bomb()}, tmp_path / "ViT.pt")
    with pytest.raises(HubError, match="its weights cannot be read"):
        open_adapter(f"clip:{tmp_path / 'ViT.pt'}", device="cpu", trust=PERMITTED)
    assert not (tmp_path / "ran").exists()
