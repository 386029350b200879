"""The gallery of methods: each example is what its rule makes, and each row says how it works."""

import subprocess
import sys

import pytest

from foilworks.core.text.errors import ActionableError
from foilworks.core.text.registry import parse_params
from generation import pipeline
from generation.methods.registry import METHODS
from generation.parameter_checks import check_parameters, named_parameter
from generation.records import CaptionInput

RULES = [slug for slug, entry in METHODS.items() if entry.kind == "rule"]
CAST = [{"name": name, "gender": gender} for name, gender in (("Harry", "m"), ("Ron", "m"), ("Hermione", "f"))]
SEEDS = range(300)
GIVEN = {"fake": {"lexicon": "circle:square"}, "identity_swap": {"characters": CAST}}


def foils_of(slug: str, seed: int) -> set[str]:
    caption, foil = METHODS[slug].example
    params = parse_params(METHODS[slug], GIVEN.get(slug, {}))
    step = pipeline.Step.of(METHODS, slug, "method", params)
    captions = [CaptionInput("shown", caption, "1")]
    if slug == "random_caption":
        captions.append(CaptionInput("other", foil, "2"))
    state = pipeline.prepare(step, captions, mode="corrected", seed=seed)
    outcome = next(pipeline.run(step, captions, mode="corrected", seed=seed, state=state))
    return {judged.draft.foil for judged in outcome.foils}


@pytest.mark.parametrize("slug", RULES)
def test_a_rule_makes_the_example_of_its_row(slug):
    assert any(METHODS[slug].example[1] in foils_of(slug, seed) for seed in SEEDS)


@pytest.mark.parametrize("slug", METHODS)
def test_each_row_has_a_kind_an_example_and_main_parameters_of_its_own(slug):
    entry = METHODS[slug]
    assert entry.kind in {"rule", "model", "endpoint", "people"}
    assert entry.example[0] != entry.example[1]
    assert set(entry.main) <= {param.name for param in entry.params}


@pytest.mark.parametrize(
    ("method", "given", "parameter"),
    [
        ("preposition", {"pairs": "right left"}, "pairs"),
        ("preposition", {"top": 0}, "top"),
        ("number", {"max": 50}, "max"),
        ("fake", {"lexicon": "circle"}, "lexicon"),
        ("identity_swap", {"characters": [{"name": "Ann"}]}, "characters"),
        ("mask_fill", {"prompts": "a person can {verb}"}, "prompts"),
        ("span_infill", {"stop": "nouns"}, "stop"),
        ("chat", {"foils": 21}, "foils"),
    ],
)
def test_a_method_checks_its_parameters_without_a_model(method, given, parameter):
    with pytest.raises(ActionableError) as caught:
        check_parameters(method, parse_params(METHODS[method], given))
    assert named_parameter(str(caught.value)) == parameter


@pytest.mark.parametrize("method", METHODS)
def test_the_defaults_of_a_method_pass_its_check(method):
    assert check_parameters(method, parse_params(METHODS[method], {})) is None


def test_an_unknown_tagger_is_refused():
    with pytest.raises(ActionableError, match="there is no tagger 'nltk'"):
        check_parameters("colour_swap", parse_params(METHODS["colour_swap"], {"tagger": "nltk"}))


LOADED = """
import sys
from generation.filters.registry import FILTERS, needs_weights
from generation.methods.registry import METHODS
from foilworks.core.text.language.tools import tagger
from foilworks.core.text.registry import load

rows = [entry for entry in METHODS.values() if entry.kind == "rule"]
for entry in [*rows, *(entry for entry in FILTERS.values() if not needs_weights(entry))]:
    load(entry)
tagger("offline").tag("A man folds a shirt.")
print(sorted({"torch", "transformers", "sentence_transformers", "spacy", "pandas"} & set(sys.modules)))
"""


def test_rules_load_no_model_library():
    """The preview of a run loads them into web processes."""
    done = subprocess.run([sys.executable, "-c", LOADED], capture_output=True, text=True, check=False)
    assert (done.stdout.strip(), done.stderr) == ("[]", "")
