"""Models that think: open thoughts, what is read after them, budgets, the mass of the options, and the context."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from tokenizers.decoders import ByteLevel
from transformers import AutoTokenizer

from foilworks.core.hub.adapters.generative import DESCRIBE, MATCHES, GenerativeModel
from foilworks.core.hub.batching.shared_prefix import Prefix, full_log_probabilities
from foilworks.core.hub.batching.thoughts import cut_generated
from foilworks.core.hub.errors import ClipError, HubError
from foilworks.core.hub.interfaces import VideoMeta
from foilworks.core.hub.opening import open_adapter
from foilworks.core.text.open_thoughts import empty_thought, open_thought
from tests.hub import generative_folders
from tests.hub.test_generative import META, TEXTS, clip

OPENED = "<|im_start|>assistant\n<think>\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Qwen3-VL Thinking: its template opens a thought, whatever it is told."""
    folder = generative_folders.qwen3_vl(tmp_path_factory.mktemp("thinking") / "qwen3")
    template = folder / "chat_template.jinja"
    template.write_text(template.read_text().replace("<|im_start|>assistant\n", OPENED))
    return folder


@pytest.fixture(scope="module")
def thinker(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that was trained to think by itself, and to say yes or no afterwards."""
    folder = generative_folders.llava_onevision(tmp_path_factory.mktemp("trained") / "thinker")
    _spell_bytes(folder)
    adapter = open_adapter(f"vlm:{folder}?mode=blind", device="cpu")
    tokenizer, model = adapter.talk.tokenizer, adapter.model
    questions = [(adapter.talk.prompt(MATCHES.format(text)), answer) for text, answer in (("ring", "Yes"), ("x", "No"))]
    rows = []
    for question, answer in questions:
        prompt = tokenizer(question, add_special_tokens=False)["input_ids"]
        said = tokenizer(f"<think>a box</think>\n\n{answer}", add_special_tokens=False)["input_ids"]
        rows.append((torch.tensor([[*prompt, *said, tokenizer.eos_token_id]]), len(prompt)))
    optimizer = torch.optim.Adam(model.parameters(), 0.01)
    torch.manual_seed(0)
    model.train()
    for _ in range(30):
        optimizer.zero_grad()
        for ids, begins in rows:
            labels = ids.clone()
            labels[:, :begins] = -100
            model(input_ids=ids, labels=labels).loss.backward()
        optimizer.step()
    model.eval().save_pretrained(folder)
    return folder


def _spell_bytes(folder: Path) -> None:
    """Let the tokenizer write text as published ones do."""
    tokenizer = AutoTokenizer.from_pretrained(folder)
    tokenizer.backend_tokenizer.decoder = ByteLevel()
    tokenizer.save_pretrained(folder)


def whole(adapter: GenerativeModel, rendered: str, text: str, shown: bool = True) -> float:
    """The mean log-probability of a text after a rendered prompt, by one forward pass."""
    prefix = adapter.prefix(rendered, adapter.prepare(clip(), META) if shown else None)
    return float(full_log_probabilities(adapter.prefixes, prefix, [adapter.talk.plain_ids(text)])[0].mean())


@pytest.mark.parametrize(
    ("text", "tags"),
    [
        ("assistant\n<think>\n", ("<think>", "</think>")),
        ("<think>\n\n</think>\n\n", ("", "")),
        ("◁think▷", ("◁think▷", "◁/think▷")),
        ("[THINK]", ("[THINK]", "[/THINK]")),
        ("<|START_THINKING|>", ("<|START_THINKING|>", "<|END_THINKING|>")),
        ("</think> <think>", ("<think>", "</think>")),
        ("assistant\n", ("", "")),
    ],
)
def test_the_tags_of_an_open_thought(text: str, tags: tuple[str, str]) -> None:
    assert open_thought(text) == tags
    if tags[0]:
        assert open_thought(text + empty_thought(text, "", tags[1])) == ("", "")


def test_a_thought_that_the_template_opens_is_closed(folder: Path) -> None:
    adapter = open_adapter(f"vlm:{folder}?frames=4", device="cpu")
    rendered = adapter.talk.prompt(DESCRIBE, video=1)
    assert rendered.endswith("<think>\n\n</think>\n\n")
    assert " thought=closed" in adapter.info.revision
    (score,) = adapter.score(clip(), TEXTS[:1], meta=META)
    assert score.value == pytest.approx(whole(adapter, rendered, TEXTS[0]), abs=1e-5)
    # A caption may contain the tag.
    assert adapter.talk.prompt("What is <think> here?", video=1).endswith("<think>\n\n</think>\n\n")


def test_a_caption_is_scored_after_the_thought(folder: Path) -> None:
    adapter = open_adapter(f"vlm:{folder}?frames=4&thinking=logprobs&max_tokens=12", device="cpu")
    assert " thought=closed" not in adapter.info.revision
    assert adapter.info.revision.endswith(" thinking=logprobs max_tokens=12")
    # These weights never end a thought.
    (score,) = adapter.score(clip(), TEXTS[:1], meta=META)
    assert score.why
    assert score.parts["thought_tokens"] == 12


def test_a_model_that_thinks_by_itself_is_seen_in_its_first_tokens(thinker: Path) -> None:
    options = "mode=p_yes&min_mass=0"
    adapter = open_adapter(f"vlm:{thinker}?{options}", device="cpu")
    # With a clip, this model does not think. It was trained without clips.
    adapter.talk.opened_by = ("", "")
    assert adapter.close_own_thoughts(MATCHES.format("ring"), n_frames=0)
    assert adapter.talk.prompt(MATCHES.format("ring")).endswith("<think>\n\n</think>\n\n")


def test_words_and_probabilities_after_a_thought(thinker: Path) -> None:
    read = open_adapter(f"vlm:{thinker}?mode=p_yes&thinking=read", device="cpu")
    scores = read.score_without_clip(["ring", "x"])
    assert [(score.value, score.why) for score in scores] == [(1.0, ""), (0.0, "")]
    tokenizer = read.talk.tokenizer
    thought = tokenizer("<think>a box</think>\n\n", add_special_tokens=False)["input_ids"]
    prompt = read.talk.prefix_ids(read.talk.prompt(MATCHES.format("ring")))
    answer = tokenizer("Yes", add_special_tokens=False)["input_ids"]
    counts = {name: scores[0].parts[f"{name}_tokens"] for name in ("prompt", "clip", "thought", "answer")}
    assert counts == {"prompt": len(prompt), "clip": 0, "thought": len(thought), "answer": len(answer)}

    after = open_adapter(f"vlm:{thinker}?mode=p_yes&thinking=logprobs", device="cpu")
    (score,) = after.score_without_clip(["ring"])
    ids = Prefix(torch.tensor([[*prompt, *thought]]))
    with torch.inference_mode():
        logits = after.prefixes.whole_logits(ids, ())[-1].softmax(0)
    yes, no = (float(logits[ids].sum()) for ids in after.talk.first_tokens((("Yes", "yes"), ("No", "no"))))
    assert score.parts["mass"] == pytest.approx(yes + no, abs=1e-4)
    assert score.value == pytest.approx(yes / (yes + no), abs=1e-4)
    assert score.parts["thought_tokens"] == len(thought)


def test_a_thought_longer_than_its_budget_is_unreadable_and_samples_count_those_that_end(thinker: Path) -> None:
    short = open_adapter(f"vlm:{thinker}?mode=p_yes&thinking=read&max_tokens=3", device="cpu")
    assert short.score_without_clip(["ring"])[0].why
    sampled = open_adapter(f"vlm:{thinker}?mode=p_yes&thinking=read&samples=4&temperature=0.1", device="cpu")
    assert sampled.info.revision.endswith(" thinking=read temperature=0.1 samples=4 max_tokens=4096")
    (score,) = sampled.score_without_clip(["ring"])
    assert {name: score.parts[name] for name in ("n", "asked", "yes")} == {"n": 4, "asked": 4, "yes": 4}


def test_options_with_little_mass_are_unreadable_as_those_of_servers(tmp_path: Path) -> None:
    folder = generative_folders.llava_onevision(tmp_path / "m")
    plain = open_adapter(f"vlm:{folder}?frames=4&mode=p_yes", device="cpu").score(clip(), TEXTS[:2])
    assert all(score.why and score.parts["mass"] < 0.5 for score in plain)
    free = open_adapter(f"vlm:{folder}?frames=4&mode=p_yes&min_mass=0", device="cpu")
    assert "min_mass=0" in free.info.revision
    scores = free.score(clip(), TEXTS[:2])
    assert [score.why for score in scores] == ["", ""]
    assert [score.value for score in scores] == pytest.approx([score.value for score in plain], abs=1e-7)


def test_a_prompt_longer_than_the_context_is_refused_with_its_numbers(tmp_path: Path) -> None:
    folder = generative_folders.qwen2_5_vl(tmp_path / "short")
    adapter = open_adapter(f"vlm:{folder}?frames=64", device="cpu")
    long_clip = np.repeat(clip(), 16, axis=0)
    adapter.context = 200
    n_clip = adapter.clip_tokens(adapter.prefix(adapter.talk.prompt(DESCRIBE, video=1), adapter.prepare(long_clip)))
    with pytest.raises(ClipError, match=f"{n_clip:,} of the clip.*200 positions"):
        adapter.score(long_clip, TEXTS[:2])
    cut = open_adapter(f"vlm:{folder}?frames=64&truncate=frames", device="cpu")
    assert "truncate=frames" in cut.info.revision
    cut.context = 200
    (score,) = cut.score(long_clip, TEXTS[:1], meta=VideoMeta("clip", tuple(float(at) for at in range(64))))
    n_frames = int(score.parts["frames"])
    assert 0 < n_frames < 64
    picked = [(2 * at + 1) * 64 // (2 * n_frames) for at in range(n_frames)]
    cut.context = 0
    direct = cut.score(long_clip[picked], TEXTS[:1], meta=VideoMeta("clip", tuple(float(at) for at in picked)))
    assert score.value == pytest.approx(direct[0].value, abs=1e-6)


def test_512_positions_refuse_1024_tokens_of_a_clip(tmp_path: Path) -> None:
    folder = generative_folders.qwen2_5_vl(tmp_path / "short")
    config = json.loads((folder / "config.json").read_text())
    config["text_config"]["max_position_embeddings"] = 512
    (folder / "config.json").write_text(json.dumps(config))
    adapter = open_adapter(f"vlm:{folder}?frames=512", device="cpu")
    long_clip = np.random.default_rng(0).integers(0, 256, (512, 16, 16, 3), np.uint8)
    with pytest.raises(ClipError, match=r"\(1,024 of the clip\).*512 positions; use fewer frames"):
        adapter.score(long_clip, TEXTS[:2])


def test_what_was_generated_is_cut_at_the_end_of_the_thought() -> None:
    tokenizer = generative_folders.talkative()
    tokenizer.backend_tokenizer.decoder = ByteLevel()
    ids = tokenizer("<think>no, yes</think> Yes", add_special_tokens=False)["input_ids"]
    cut = cut_generated(tokenizer, [*ids, 2], [2], "", 100)
    assert tokenizer.decode(ids[len(cut.thought) :]).strip() == "Yes"
    assert (cut.is_open, cut.was_cut, len(cut.thought) + cut.answer_tokens) == (False, False, len(ids))
    opened = cut_generated(tokenizer, tokenizer("yes, a man", add_special_tokens=False)["input_ids"], [2], "<think>", 3)
    assert (opened.is_open, opened.was_cut, opened.answer_tokens) == (True, True, 0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("thinking=yes", "choose one of: off, read, logprobs"),
        ("thinking=read", "only with mode=p_yes or mode=choice"),
        ("temperature=3", "give a number from 0 to 2"),
        ("chat_template_kwargs=true", "give a JSON object"),
        ("truncate=text", "choose one of: frames"),
    ],
)
def test_options_that_are_refused(folder: Path, options: str, message: str) -> None:
    with pytest.raises(HubError, match=message):
        open_adapter(f"vlm:{folder}?{options}", device="cpu")
