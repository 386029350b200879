"""Video-text and image-text models of other shapes: what comes out is what the model's own forward pass gives."""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from transformers import Siglip2ImageProcessor

from foilworks.core.hub.adapters.video_text import PeVideo, canonical
from foilworks.core.hub.batching.dual_encoders import Tokens
from foilworks.core.hub.batching.pixels import patch_rows
from foilworks.core.hub.errors import HubError
from foilworks.core.hub.interfaces import VideoMeta
from foilworks.core.hub.loading.pretrained import Pretrained
from foilworks.core.hub.opening import open_adapter
from tests.hub import folders, video_folders
from tests.hub.folders import byte_tokenizer

TEXTS = ["a man folds a red shirt", "a ring", "a woman opens the door"]


def clips(frames: int = 4) -> list[np.ndarray]:
    return [np.random.default_rng(n).integers(0, 256, (frames, 20, 30, 3), np.uint8) for n in range(2)]


def shown(adapter) -> torch.Tensor:
    return torch.stack([adapter.pixels(clip, torch.device("cpu")) for clip in clips(adapter.info.frames)])


def scores(adapter) -> np.ndarray:
    videos = adapter.encode_video(clips(adapter.info.frames), [VideoMeta(), VideoMeta()])
    return adapter.score(videos, adapter.encode_text(TEXTS))


def tokens(adapter, *, full_length: bool = False, texts: Sequence[str] = TEXTS) -> dict[str, torch.Tensor]:
    return {name: part for name, part in _tokens(adapter, full_length)(texts).items() if name != "token_type_ids"}


def _tokens(adapter, full_length: bool) -> Tokens:
    made = adapter._tokens if hasattr(adapter, "_tokens") else None
    assert made is None or made.full_length is full_length
    return made or Tokens(adapter.tokenizer, adapter.model.config, full_length=full_length, device=torch.device("cpu"))


@torch.inference_mode()
def test_x_clip_prompts_each_text_with_each_clip(tmp_path: Path) -> None:
    adapter = open_adapter(f"xclip:{video_folders.xclip(tmp_path / 'm')}", device="cpu")
    out = adapter.model(pixel_values=shown(adapter), **tokens(adapter))
    wanted = out.logits_per_video / adapter.model.logit_scale.exp()
    np.testing.assert_allclose(scores(adapter), wanted.numpy(), atol=1e-5)
    # The same texts without prompting would score otherwise.
    flat = torch.nn.functional.normalize(torch.from_numpy(adapter.encode_text(TEXTS)), dim=1)
    assert (out.video_embeds @ flat.T - wanted).abs().max() > 1e-3


def test_x_clip_gives_the_same_rows_whether_views_of_a_clip_are_encoded_together_or_alone(tmp_path: Path) -> None:
    adapter = open_adapter(f"xclip:{video_folders.xclip(tmp_path / 'm')}", device="cpu")
    frames = np.random.default_rng(0).integers(0, 256, (4, 16, 16, 3), np.uint8)
    views = [frames, frames[::-1], frames[[2, 0, 3, 1]], frames[[1] * 4], frames[[0, 0, 1, 2]]]
    sizes: list[int] = []
    hook = adapter.model.vision_model.register_forward_pre_hook(
        lambda _module, _given, named: sizes.append(len(named["pixel_values"])), with_kwargs=True
    )
    together = adapter.encode_video(views, [VideoMeta("c")] * 5)
    hook.remove()
    # Three orders go through the tower once, a repeated frame costs one frame.
    assert sorted(sizes) == [1, 8]
    alone = torch.cat([adapter.video_rows([view]) for view in views]).detach().numpy()
    np.testing.assert_allclose(together, alone, atol=1e-5)
    assert np.abs(together[0] - together[1]).max() > 1e-3


@torch.inference_mode()
def test_videoprism_gives_the_cosine_of_its_two_sides(tmp_path: Path) -> None:
    adapter = open_adapter(f"video:{video_folders.videoprism(tmp_path / 'm')}", device="cpu")
    spelt = [f"{text}." for text in TEXTS]
    out = adapter.model(pixel_values_videos=shown(adapter), **tokens(adapter, full_length=True, texts=spelt))
    np.testing.assert_allclose(scores(adapter), (out.video_embeds @ out.text_embeds.T).numpy(), atol=1e-5)
    assert (adapter.info.frames, adapter.info.kind) == (4, "cosine")
    assert adapter.info.revision.endswith(" frames=4 texts=canonical")


@pytest.mark.parametrize(
    ("text", "spelt"),
    [("Hello, World!", "hello world."), ("Hello,World..", "hello world."), ("  Hello   WORLD", "hello world.")],
)
def test_videoprism_spells_texts_as_its_authors_do(text: str, spelt: str) -> None:
    """The examples of the authors' own code."""
    assert canonical(text) == spelt


def test_texts_are_lower_cased_if_the_tokenizers_files_require_it(tmp_path: Path) -> None:
    """As SigLIP 2 is published: `do_lower_case` beside the name of a tokenizer that knows nothing of it."""
    folder = folders.clip(tmp_path / "m", siglip=True)
    byte_tokenizer().save_pretrained(folder)

    def opened(**said: object):
        config = folder / "tokenizer_config.json"
        config.write_text(json.dumps({**json.loads(config.read_text()), **said}))
        return open_adapter(f"clip:{folder}?frames=4", device="cpu")

    typed, lower = opened(), opened(do_lower_case=True)
    assert "texts=" not in typed.info.revision
    assert lower.info.revision.endswith(" texts=lower")
    assert typed._tokens(["A Ring"])["input_ids"].tolist() != typed._tokens(["a ring"])["input_ids"].tolist()
    assert lower._tokens(["A Ring"])["input_ids"].tolist() == lower._tokens(["a ring"])["input_ids"].tolist()


@torch.inference_mode()
def test_pe_video_gives_its_logit() -> None:
    model, tokenizer = video_folders.pe_video()
    adapter = PeVideo(Pretrained(model, "pe", "1", torch.device("cpu")), tokenizer, video_folders.PROCESSOR, 4)
    model.text_video_logit_scale.fill_(2.0)
    model.text_video_logit_bias.fill_(-1.0)
    out = model(pixel_values_videos=shown(adapter), **tokens(adapter))
    np.testing.assert_allclose(scores(adapter), out.logits_video_text.numpy(), atol=1e-4)


def test_pe_video_says_what_to_install(tmp_path: Path) -> None:
    with pytest.raises(HubError, match=r"requires the timm library .*; install what it names beside transformers"):
        open_adapter(f"video:{video_folders.pe_video_folder(tmp_path / 'pe')}", device="cpu")


@torch.inference_mode()
def test_blip2_matches_each_frame_with_each_text(tmp_path: Path) -> None:
    folder = video_folders.blip2(tmp_path / "m")
    adapter = open_adapter(f"blip2:{folder}?frames=4", device="cpu")
    videos, texts = adapter.encode_video(clips(), [VideoMeta()] * 2), adapter.encode_text(TEXTS)
    logits = adapter.frame_logits(videos, texts)
    for at, pixels in enumerate(shown(adapter)):
        for row, text in enumerate(TEXTS):
            found = adapter.tokenizer([text] * 4, return_tensors="pt")
            given = {name: found[name] for name in ("input_ids", "attention_mask")}
            out = adapter.model(pixel_values=pixels, use_image_text_matching_head=True, **given).logits_per_image
            np.testing.assert_allclose(logits[at, :, row], (out[:, 1] - out[:, 0]).numpy(), atol=1e-4)
    np.testing.assert_allclose(scores(adapter), logits.mean(1), atol=1e-5)
    by_chance = open_adapter(f"blip2:{folder}?frames=4&pooling=probability", device="cpu")
    np.testing.assert_allclose(scores(by_chance), (1 / (1 + np.exp(-logits))).mean(1), atol=1e-5)
    assert by_chance.info.kind == "p_yes"


@torch.inference_mode()
def test_blip2_with_a_language_model_scores_by_the_loss_of_captions(tmp_path: Path) -> None:
    """As the released code of ViLMA: exp of the mean over frames of sum(loss of all but the first token) / tokens."""
    adapter = open_adapter(f"blip2:{video_folders.blip2_captions(tmp_path / 'm')}?frames=4", device="cpu")
    (pixels, _), frames = shown(adapter), clips()[0]
    n_queries, mark = adapter.model.config.num_query_tokens, 3
    adapter.model.config.image_token_index = mark
    for text, score in zip(TEXTS, adapter.score(frames, TEXTS), strict=True):
        ids = adapter.tokenizer(text)["input_ids"]
        inputs = torch.tensor([[mark] * n_queries + ids] * 4)
        logits = adapter.model(pixel_values=pixels, input_ids=inputs, attention_mask=torch.ones_like(inputs)).logits
        losses = torch.nn.functional.cross_entropy(
            logits[:, n_queries:-1].transpose(1, 2), torch.tensor([ids[1:]] * 4), reduction="none"
        )
        assert score.value == pytest.approx(float((losses.sum(1) / len(ids)).mean().exp()), rel=1e-5)
    assert (adapter.info.kind, adapter.info.higher_is_better) == ("perplexity", False)
    assert adapter.score(clips()[1], TEXTS[:1])[0].value != pytest.approx(score.value, rel=1e-4)
    with pytest.raises(HubError, match="needs a clip"):
        adapter.score(None, TEXTS)


def test_blip2_matches_a_repeated_frame_once(tmp_path: Path) -> None:
    adapter = open_adapter(f"blip2:{video_folders.blip2(tmp_path / 'm')}?frames=4", device="cpu")
    frames = clips()[0]
    row = adapter.encode_video([frames], [VideoMeta("c")])[0]
    words = adapter.encode_text(TEXTS)
    sizes: list[int] = []
    real = adapter._logits
    adapter._logits = lambda seen, ids: sizes.append(len(ids)) or real(seen, ids)
    still = adapter.frame_logits(row[[2] * 4][None], words)[0]
    whole = adapter.frame_logits(row[None], words)[0]
    assert sizes == [len(TEXTS), 4 * len(TEXTS)]
    np.testing.assert_allclose(still, np.repeat(whole[2:3], 4, axis=0), atol=1e-5)


@torch.inference_mode()
def test_metaclip_2_by_frames(tmp_path: Path) -> None:
    adapter = open_adapter(f"clip:{video_folders.metaclip2(tmp_path / 'm')}?frames=4", device="cpu")
    given = clips()[0]
    out = adapter.model(pixel_values=adapter.pixels(given, torch.device("cpu")), **tokens(adapter))
    logits = adapter.frame_logits(adapter.encode_video([given], [VideoMeta()]), adapter.encode_text(TEXTS))
    np.testing.assert_allclose(logits[0], out.logits_per_image.numpy(), atol=1e-4)


@torch.inference_mode()
def test_siglip_2_with_free_sizes(tmp_path: Path) -> None:
    folder = video_folders.siglip2(tmp_path / "m")
    adapter = open_adapter(f"clip:{folder}?frames=4", device="cpu")
    given = clips()[0]
    raw = json.loads((folder / "preprocessor_config.json").read_text())
    processor = Siglip2ImageProcessor(**raw, patch_size=4, max_num_patches=16)
    theirs = processor(images=[Image.fromarray(frame) for frame in given], return_tensors="pt")
    rows, mask, shapes = patch_rows(given, adapter.pixels, 4, 16, torch.device("cpu"))
    np.testing.assert_array_equal(shapes, theirs["spatial_shapes"])
    np.testing.assert_array_equal(mask, theirs["pixel_attention_mask"])
    assert np.abs(rows.numpy() - theirs["pixel_values"].numpy()).max() <= 1.01 / 127.5  # a grey level
    text = adapter._tokens(TEXTS)["input_ids"]
    out = adapter.model(pixel_values=rows, pixel_attention_mask=mask, spatial_shapes=shapes, input_ids=text)
    logits = adapter.frame_logits(adapter.encode_video([given], [VideoMeta()]), adapter.encode_text(TEXTS))
    np.testing.assert_allclose(logits[0], out.logits_per_image.numpy(), atol=1e-4)


@pytest.mark.parametrize("spec", ["xclip", "video", "blip2"])
def test_a_model_of_another_kind_is_refused(tmp_path: Path, spec: str) -> None:
    with pytest.raises(HubError, match=r"is not an X-CLIP|is not supported by 'video:'|blip2|cannot be loaded|missing"):
        open_adapter(f"{spec}:{folders.clip(tmp_path / 'clip')}", device="cpu")


def test_the_error_names_a_clip_with_the_wrong_number_of_frames(tmp_path: Path) -> None:
    adapter = open_adapter(f"xclip:{video_folders.xclip(tmp_path / 'm')}", device="cpu")
    with pytest.raises(HubError, match=r"clip 'k': m takes uint8 \(4, height, width, 3\), not uint8 \(3, 20, 30, 3\)"):
        adapter.encode_video(clips(3)[:1], [VideoMeta("k")])
