"""A project's own prompts and examples from a file, and where the start of an answer is."""

import json

import pytest

from evaluation.errors import EvaluationError
from evaluation.utd.concepts import ACTIVITIES, OBJECTS, PROMPTS, VERBS, numbered
from evaluation.utd.describing import extracted
from evaluation.utd.prompt_sets import ANSWER_TOKENS, conversation, describe_prompt, read_prompts, tokens_of
from evaluation.utd.recipes import PAPER, RECIPES
from foilworks.core.hub.interfaces import ChatReply, ModelInfo, ScoreKind
from generation.instruction_models.cached_answers import Asking
from tests.generation.memory_answers import MemoryAnswers

PARAMS = {"max_tokens": 400, "temperature": 0.0, "answer_tokens": dict(ANSWER_TOKENS)}


class Hears:
    """A model that says the same and remembers the requests."""

    together, info = 4, ModelInfo("hears", "1", ScoreKind.LOG_LIKELIHOOD, needs_video=False)

    def __init__(self):
        self.asked = []

    def replies(self, requests):
        self.asked += requests
        yield [(at, ChatReply("1. A dog runs.\n2. It barks.")) for at in range(len(requests))]


def test_local_models_continue_the_answer_and_endpoints_get_its_start_in_the_question():
    prompt = PROMPTS[OBJECTS]
    assert conversation({}, "chat:x", OBJECTS, "a dog")[-2:] == (
        ("user", prompt.user("a dog")),
        ("assistant", prompt.answer),
    )
    last = ("user", f"{prompt.user('a dog')} {prompt.answer}")
    assert conversation({}, "endpoint:x", OBJECTS, "a dog")[-1] == last
    assert conversation({"placement": "question"}, "chat:x", OBJECTS, "a dog")[-1] == last
    assert conversation({"placement": "prefill"}, "endpoint:x", OBJECTS, "a dog")[-1][0] == "assistant"


def test_each_concept_has_the_published_limit_and_verbs_get_numbered_activities():
    model = Hears()
    extracted(Asking(model, MemoryAnswers()), [{"objects+composition+activities": "A dog."}], PARAMS)
    limits = {request.messages[-1][1]: request.max_tokens for request in model.asked}
    assert limits == {PROMPTS[concept].answer: ANSWER_TOKENS[concept] for concept in ANSWER_TOKENS}
    verbs = next(one for one in model.asked if one.messages[-1][1] == PROMPTS[VERBS].answer)
    assert '"1. A dog runs.\n2. It barks.\n"' in verbs.messages[-2][1]
    assert RECIPES[PAPER].answer_tokens == ANSWER_TOKENS
    assert tokens_of({"max_tokens": 400}, OBJECTS) == 400


def test_examples_have_the_published_form():
    for concept in (OBJECTS, ACTIVITIES):
        assert all(len(text.split()) > 30 for text, _ in PROMPTS[concept].examples)
        assert all(answer.startswith("\n") and answer.endswith("\n") for _, answer in PROMPTS[concept].examples)
    assert all(numbered(text) == text for text, _ in PROMPTS[VERBS].examples)


def test_own_prompts_replace_the_built_in_ones(tmp_path):
    path = tmp_path / "prompts.json"
    own = {"describe": "What is here?", "objects": {"instruction": "List: INPUT", "examples": [["a cup", "1. cup"]]}}
    path.write_text(json.dumps(own))
    params = {"prompts": read_prompts(path)}
    assert describe_prompt(params) == "What is here?"
    turns = conversation(params, "chat:x", OBJECTS, "a dog")
    assert [role for role, _ in turns] == ["user", "assistant"] * 2
    assert turns[0][1] == "List: a cup"
    assert conversation(params, "chat:x", ACTIVITIES, "x") == conversation({}, "chat:x", ACTIVITIES, "x")


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ("{", "JSON"),
        ("[]", "record: is not a prompt"),
        ('{"colours": {}}', "colours: is not a prompt; name some of describe, objects"),
        ('{"objects": {"instruction": "List them"}}', "objects.instruction: has no INPUT"),
        ('{"objects": {"examples": [["a"]]}}', "has something other than a pair"),
        ('{"describe": ""}', "describe: is not a text"),
    ],
)
def test_a_bad_file_of_prompts_is_refused(tmp_path, given, problem):
    path = tmp_path / "prompts.json"
    path.write_text(given)
    with pytest.raises(EvaluationError, match=problem):
        read_prompts(path)
