"""A language model tuned on the texts of an audit: a real small one, killed and resumed, zero-shot kept apart."""

import json
from dataclasses import replace
from string import ascii_uppercase

import pytest
import torch
from django.core.management import CommandError, call_command
from transformers import LlamaConfig, LlamaForCausalLM

from evaluation.audit.audit import Options, audit
from evaluation.audit.tuned_probe import Tuning, tune_folds
from evaluation.audit.without_video import sentence, size_name
from evaluation.errors import EvaluationError
from foilworks import library
from foilworks.core.hub.training.option_letters import LetterModel
from foilworks.core.solver.questions import Row, separate_answers
from tests.evaluation.test_audit import found_of, written
from tests.hub.folders import byte_tokenizer, saved

SETTINGS = {"epochs": 4, "learning_rate": 0.02, "checkpoint_every": 3}
pytestmark = pytest.mark.slow(15)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    torch.manual_seed(6)
    tokenizer = byte_tokenizer([" ".join(ascii_uppercase)] * 3 + ["where is the cup", "Answer:"], longest=128)
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=2,
        max_position_embeddings=128,
        bos_token_id=0,
        eos_token_id=2,
    )
    return saved(tmp_path_factory.mktemp("lm") / "tiny", LlamaForCausalLM(config), tokenizer)


@pytest.fixture(scope="module")
def model(folder):
    return LetterModel(str(folder))


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    """The second option is right: an artefact that no model knows before it is tuned."""
    rows = [
        {"question": f"Where is cup {n}?", "options": [f"left {n}", f"up {n}"], "answer": "B", "video": f"v{n}"}
        for n in range(60)
    ]
    return written(tmp_path_factory.mktemp("audit") / "second.jsonl", rows)


@pytest.fixture(scope="module")
def whole(source, model):
    return audit([source], Options(tuning=Tuning(model, None, 40, SETTINGS)))


def test_what_is_learned_is_apart_from_what_is_known(whole):
    knows, learns = found_of(whole, "knows"), found_of(whole, "learns")
    assert learns["value"] == 1.0
    assert learns["n"] == knows["n"] == 40
    assert learns["details"]["delta_tst"]["value"] == pytest.approx(learns["value"] - knows["value"])
    assert learns["details"]["gain"]["value"] == pytest.approx(learns["value"] - learns["details"]["solver"])
    assert learns["details"]["seconds"] > 0


def test_a_small_model_never_finds_nothing_and_the_sentence_says_its_size(whole):
    assert found_of(whole, "knows")["verdict"] not in {"nothing_found", "nothing_found_so_far"}
    size = size_name(found_of(whole, "knows")["details"])
    assert sentence(whole).endswith(f"plausibility tested with {size} only.")


@pytest.mark.parametrize(
    ("parameters", "name"),
    [(268_098_176, "a 270M model (m)"), (7_600_000_000, "a 7.6B model (m)"), (None, "m")],
)
def test_a_model_is_named_with_its_size(parameters, name):
    assert size_name({"probe": "m", "parameters": parameters}) == name


class Killed(Exception):
    pass


def test_a_killed_training_continues_with_the_same_numbers(model, tmp_path):
    rows = [Row(f"up {n}", (f"left {n}",), 1, f"Where is cup {n}?", video=f"v{n}") for n in range(25)]
    questions, answers = separate_answers(rows)

    def run(folder, stop=None, n=25):
        def report(done, _total):
            steps.append(done)
            if done == stop:
                raise Killed

        return tune_folds(questions[:n], answers[:n], Tuning(model, folder, 25, SETTINGS, report), 0)

    steps: list[int] = []
    whole = run(None)
    for number in (5, 20):
        with pytest.raises(Killed):
            run(tmp_path, number)
        # Killed in the middle of a fold: its checkpoint is what is left.
        assert [path.suffix for path in tmp_path.glob("fold-*")] == [".safetensors"]
    assert replace(run(tmp_path), seconds=0.0) == replace(whole, seconds=0.0)
    steps.clear()
    # All folds are stored: nothing is trained again.
    assert run(tmp_path).seconds > 0
    assert steps == []
    with pytest.raises(EvaluationError, match="belongs to other items, settings or another model"):
        run(tmp_path, n=24)


def test_the_command_trains(source, folder, capsys, tmp_path):
    arguments = ("--model", f"lm:{folder}", "--set", f"train_state={tmp_path}", "--set", "train=20")
    call_command("audit", str(source.path), *arguments, "--json")
    learns = found_of(json.loads(capsys.readouterr().out), "learns")
    assert learns["n"] == 20
    assert learns["details"]["settings"]["epochs"] == 2


def test_only_causal_language_models_and_small_samples_are_trained(source, capsys):
    with pytest.raises(SystemExit):
        call_command("audit", str(source.path), "--model", "chat:x", "--set", "train=20")
    assert "is not a causal language model" in capsys.readouterr().err
    with pytest.raises(CommandError, match="train_state needs --set train=N"):
        call_command("audit", str(source.path), "--set", "train_state=x")
    with pytest.raises(EvaluationError, match="from 1 to 400"):
        library.audit(source.path, train_items=401)
