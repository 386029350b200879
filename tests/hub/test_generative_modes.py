"""What generative models share whatever their family: modes, options, what is refused."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import PreTrainedTokenizerFast

from foilworks.core.hub.adapters.generative import DESCRIBE, NO, SLOT, YES, GenerativeModel
from foilworks.core.hub.batching.conversation import Conversation
from foilworks.core.hub.batching.shared_prefix import CACHED_TOKENS_PER_BATCH
from foilworks.core.hub.errors import HubError
from foilworks.core.hub.interfaces import Generator, Scorer, ScoresWithoutClip, VideoMeta
from foilworks.core.hub.loading.processor_files import load_processor
from foilworks.core.hub.opening import open_adapter
from foilworks.core.hub.served.prompts import SUBTITLES
from tests.hub import generative_folders, picture_folders
from tests.hub.folders import byte_tokenizer, spacing_tokenizer, span_tokenizer
from tests.hub.test_generative import clip, values


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return generative_folders.llava_onevision(tmp_path_factory.mktemp("one") / "onevision")


@pytest.fixture(scope="module")
def adapter(folder: Path) -> GenerativeModel:
    return open_adapter(f"vlm:{folder}?frames=4", device="cpu")


def test_it_is_a_scorer_and_a_generator(adapter: GenerativeModel) -> None:
    assert isinstance(adapter, Scorer)
    assert isinstance(adapter, Generator)


def test_many_texts_share_the_prefix_in_several_batches(adapter: GenerativeModel) -> None:
    prefix = adapter.prefix(adapter.rendered(DESCRIBE, adapter.prepare(clip())), adapter.prepare(clip()))
    per_batch = CACHED_TOKENS_PER_BATCH["cpu"] // prefix.ids.shape[1]
    texts = [f"a dog jumps {'x' * (n % 5)} {n}" for n in range(per_batch * 2 + 3)]
    assert values(adapter, texts)[::7] == pytest.approx([values(adapter, [t])[0] for t in texts[::7]], abs=1e-4)


def test_the_video_is_encoded_once(adapter: GenerativeModel) -> None:
    seen: list[int] = []
    hook = adapter.model.model.vision_tower.register_forward_hook(lambda *_: seen.append(1))
    values(adapter, [f"text {n}" for n in range(40)])
    hook.remove()
    assert seen == [1]


@pytest.mark.parametrize("mode", ["likelihood", "blind", "choice", "p_yes"])
def test_the_mode_is_part_of_the_revision(folder: Path, mode: str) -> None:
    info = open_adapter(f"vlm:{folder}?frames=4&mode={mode}", device="cpu").info
    assert f"mode={mode}" in info.revision
    assert info.needs_video is (mode != "blind")
    assert info.by_item is (mode == "choice")
    assert info.kind == ("p_yes" if mode in ("choice", "p_yes") else "log_likelihood")


def test_every_option_that_changes_scores_is_part_of_the_revision(folder: Path) -> None:
    """Else two runs would share the key of their scores, and the second show the first one's."""

    def revision(options: str) -> str:
        return open_adapter(f"vlm:{folder}?{options}", device="cpu").info.revision

    plain, small, smaller = (revision(f"frames=4{more}") for more in ("", "&max_pixels=512", "&max_pixels=256"))
    assert len({plain, small, smaller}) == 3
    assert "max_pixels" not in plain
    assert small == plain.replace("frames=4", "frames=4 max_pixels=512")
    # Without the video there are no pixels.
    assert revision("mode=blind&max_pixels=512") == revision("mode=blind")


class TestSpaces:
    """An answer continues a prompt with the tokens that the model was trained on, without a space token before them."""

    def talk(self, tokenizer: PreTrainedTokenizerFast) -> Conversation:
        tokenizer.chat_template = "{{ messages[0].content[0].text }}"
        return Conversation("", tokenizer=tokenizer)

    def pieces(self, talk: Conversation, text: str) -> list[str]:
        return talk.tokenizer.convert_ids_to_tokens(talk.continued_ids("ASSISTANT:", text))

    def test_a_tokenizer_that_adds_a_space(self) -> None:
        talk = self.talk(spacing_tokenizer(("Yes", "yes", "No", "no", "a")))
        assert talk.tokenizer.tokenize(" Yes") == ["▁", "▁Yes"]
        assert self.pieces(talk, "a") == ["▁a"]
        sides = talk.first_tokens((YES, NO))
        assert [set(talk.tokenizer.convert_ids_to_tokens(ids)) for ids in sides] == [{"▁Yes", "▁yes"}, {"▁No", "▁no"}]

    def test_a_tokenizer_that_adds_no_space(self) -> None:
        talk = self.talk(byte_tokenizer())
        assert self.pieces(talk, "a ring") == ["Ġa", "Ġring"]

    def test_letters_after_a_token_of_space(self) -> None:
        """ "A" is "▁", "A" to this one: the letters are told apart by what follows the space."""
        talk = self.talk(spacing_tokenizer(("Yes",)))
        sides = talk.first_tokens([(letter, f" {letter}") for letter in "AB"])
        assert [talk.tokenizer.convert_ids_to_tokens(ids) for ids in sides] == [["A"], ["B"]]

    def test_words_with_equal_tokens_stay(self) -> None:
        talk = self.talk(span_tokenizer())
        assert talk.first_tokens((["yes"], ["yeah"])) == [[2], [2]]  # <unk>
        assert talk.first_tokens([["yes"]]) == [[2]]

    def test_added_spaces_are_part_of_the_revision(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Such a model scores otherwise than before it was noticed."""
        tokenizer = spacing_tokenizer(("Yes", "yes", "No", "no", "a", "ring"))
        tokenizer.add_special_tokens({"additional_special_tokens": list(generative_folders.MARKS)})
        monkeypatch.setattr(generative_folders, "talkative", lambda: tokenizer)
        model = open_adapter(f"vlm:{generative_folders.llava_next(tmp_path / 'next')}?frames=4", device="cpu")
        assert " spaces=own" in model.info.revision
        assert len(set(values(model, ["a ring", "a"], "p_yes"))) == 2


def test_features_of_early_layers_reach_the_language_model(tmp_path: Path) -> None:
    """Deepstack (Qwen3-VL): without its mergers a caption scores differently."""
    for family in ("qwen3_vl", "qwen3_vl_moe"):
        model = open_adapter(f"vlm:{generative_folders.FAMILIES[family](tmp_path / family)}?frames=4", device="cpu")
        before = values(model, ["a ring"])
        for weights in model.model.model.visual.deepstack_merger_list.parameters():
            weights.data.zero_()
        assert values(model, ["a ring"]) != pytest.approx(before, abs=1e-3)


def test_pictures_of_gemma_attend_to_themselves_in_both_directions(tmp_path: Path) -> None:
    model = open_adapter(f"vlm:{picture_folders.gemma3(tmp_path / 'gemma')}?frames=4", device="cpu")
    prepared = model.prepare(clip())
    prefix = model.prefix(model.rendered(DESCRIBE, prepared), prepared)
    given = model.prefixes.forward_inputs(prefix, prefix.ids)
    soft = model.talk.tokenizer.convert_tokens_to_ids("<image_soft_token>")
    assert given["token_type_ids"].tolist() == (prefix.ids == soft).int().tolist()
    with torch.inference_mode():
        both = model.model(**given).logits[0, -1]
        one = model.model(**{name: value for name, value in given.items() if name != "token_type_ids"}).logits[0, -1]
    assert float((both - one).abs().max()) > 1e-3


def test_reasoning_is_turned_off_in_the_template(tmp_path: Path) -> None:
    folder = generative_folders.qwen3_5(tmp_path / "thinking")
    template = (folder / "chat_template.jinja").read_text()
    thought = "{% if enable_thinking is defined and not enable_thinking %}<think></think>{% else %}<think>{% endif %}"
    (folder / "chat_template.jinja").write_text(template + thought)
    model = open_adapter(f"vlm:{folder}?frames=4", device="cpu")
    assert model.talk.prompt(DESCRIBE, video=True).endswith("<think></think>")


@pytest.mark.parametrize("family", picture_folders.PICTURES)
def test_pictures_are_made_without_torchvision_even_if_it_is_installed(family: str, tmp_path: Path) -> None:
    processor = load_processor(str(picture_folders.PICTURES[family](tmp_path / family)))
    assert type(processor.image_processor).__name__.endswith("Pil")


def test_the_error_names_a_processor_that_does_not_load(tmp_path: Path) -> None:
    folder = picture_folders.llava(tmp_path / "llava")
    (folder / "processor_config.json").write_text("{}")
    with pytest.raises(HubError, match=r"llava: its processor cannot be loaded \(.*\); copy processor_config.json"):
        open_adapter(f"vlm:{folder}?frames=4", device="cpu")


def test_invalid_requests_are_refused(adapter: GenerativeModel) -> None:
    with pytest.raises(HubError, match=r"needs a clip; without one, use mode 'blind'"):
        adapter.score(None, ["x"], "p_yes")
    with pytest.raises(HubError, match=r"mode 'yes' is unknown; choose one of: likelihood, gain, blind"):
        adapter.score(clip(), ["x"], "yes")
    with pytest.raises(HubError, match=r"a choice takes at most 26 texts, not 27"):
        values(adapter, [f"text {n}" for n in range(27)], "choice")
    with pytest.raises(HubError, match=r"clip 'k': .* takes uint8 \(frames, height, width, 3\), not float32"):
        adapter.score(clip().astype(np.float32), ["x"], meta=VideoMeta("k"))


def test_options_are_checked(folder: Path) -> None:
    with pytest.raises(HubError, match="mode is 'best'; choose one of"):
        open_adapter(f"vlm:{folder}?mode=best", device="cpu")
    with pytest.raises(HubError, match="max_pixels is '0'; give a whole number from 1"):
        open_adapter(f"vlm:{folder}?max_pixels=0", device="cpu")


def test_another_kind_of_model_is_refused(folder: Path, tmp_path: Path) -> None:
    """By its configuration alone, before any weight is copied or read."""
    text_model = generative_folders.saved_text_model(tmp_path / "lm")
    (text_model / "model.safetensors").unlink()
    with pytest.raises(HubError, match="opens no model of type 'llama' that reads pictures"):
        open_adapter(f"vlm:{text_model}", device="cpu")
    config = json.loads((text_model / "config.json").read_text())
    (text_model / "config.json").write_text(json.dumps({**config, "model_type": "qwen9_vl"}))
    with pytest.raises(HubError, match="does not know its model type"):
        open_adapter(f"vlm:{text_model}", device="cpu")


def test_a_template_that_is_missing_or_omits_the_video_is_refused(folder: Path, tmp_path: Path) -> None:
    copy = generative_folders.llava_onevision(tmp_path / "copy")
    (copy / "chat_template.jinja").write_text("{{ messages[0].content[-1].text }}")
    with pytest.raises(HubError, match=r"its chat template writes no <video> for a video"):
        open_adapter(f"vlm:{copy}?frames=4", device="cpu").score(clip(), ["x"])
    (copy / "chat_template.jinja").unlink()
    with pytest.raises(HubError, match=r"copy: it has no chat template; copy chat_template.jinja"):
        open_adapter(f"vlm:{copy}", device="cpu")
    (copy / "chat_template.json").write_text(json.dumps({"chat_template": "{% bad"}))
    with pytest.raises(HubError, match=r"its chat template fails"):
        open_adapter(f"vlm:{copy}?frames=4", device="cpu").score(clip(), ["x"])


def test_a_renamed_tensor_is_named(tmp_path: Path) -> None:
    copy = generative_folders.llava_onevision(tmp_path / "copy")
    tensors = load_file(copy / "model.safetensors")
    name = next(name for name in tensors if name.endswith("image_newline"))
    tensors[name + "_old"] = tensors.pop(name)
    save_file(tensors, copy / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(HubError, match=r"copy: missing model\.image_newline; unexpected .*image_newline_old"):
        open_adapter(f"vlm:{copy}", device="cpu")


def test_without_a_clip_it_is_asked_by_the_same_prompt_without_the_video(folder: Path) -> None:
    texts = ["a man folds a red shirt", "a ring", "a ring"]
    for mode in ("likelihood", "p_yes", "choice"):
        model = open_adapter(f"vlm:{folder}?frames=4&mode={mode}", device="cpu")
        assert isinstance(model, ScoresWithoutClip)
        assert model.scores_without_clip
        found = [score.value for score in model.score_without_clip(texts)]
        assert found[1] == found[2]
        assert found != pytest.approx([score.value for score in model.score(clip(), texts)], abs=1e-4)
        if mode == "likelihood":
            assert found == [score.value for score in model.score(None, texts, "blind")]


def test_a_gain_has_no_score_without_a_clip(folder: Path) -> None:
    model = open_adapter(f"vlm:{folder}?frames=4&mode=gain", device="cpu")
    assert not model.scores_without_clip
    with pytest.raises(HubError, match="mode 'gain' has no score without a clip"):
        model.score_without_clip(["a ring"])


def test_subtitles_and_other_questions_are_in_the_prompt(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    prompts: list[str] = []
    spoken, texts = SUBTITLES.format("a {} b"), ["a man folds a red shirt", "a ring"]
    for mode in ("likelihood", "p_yes", "choice"):
        model = open_adapter(f"vlm:{folder}?frames=4&mode={mode}", device="cpu")
        rendered = model.rendered

        def noted(text: str, shown: Any, own: Any = rendered) -> str:
            prompts.append(text)
            return str(own(text, shown))

        monkeypatch.setattr(model, "rendered", noted)
        plain = [score.value for score in model.score(clip(), texts)]
        heard = [score.value for score in model.score(clip(), texts, meta=VideoMeta(before=spoken))]
        blind = [score.value for score in model.score_without_clip(texts, before=spoken)]
        assert plain != pytest.approx(heard, abs=1e-5)
        assert blind != pytest.approx(heard, abs=1e-5)
        assert [text.startswith(spoken) for text in prompts] == [False, True, True]
        assert prompts[1] == prompts[2] == spoken + prompts[0]
        prompts.clear()
        if mode == "p_yes":
            model.score(clip(), texts, meta=VideoMeta(asks='Is it "{}"? Answer with yes or no.'))
            assert prompts == [f'Is it "{SLOT}"? Answer with yes or no.']
            prompts.clear()
