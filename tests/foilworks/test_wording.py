"""What the code calls its states and what jobs say of their progress, in the reader's language."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from annotation.models import SlotState, TaskState, VoteState
from evaluation.analyses.agreement_data import NOTHING_SHARED, ONE_CATEGORY
from foilworks.core.corpus.rules.states import CandidateState, FoilVerdict, ItemState
from foilworks.core.jobs.models import JobState
from foilworks.core.projects.templatetags.wording import WORDS, in_words

ROOT = Path(__file__).resolve().parent.parent.parent
PACKAGES = ("annotation", "evaluation", "foilworks", "generation")
SHOWN = (CandidateState, ItemState, FoilVerdict, TaskState, SlotState, VoteState)
STATES = sorted({str(state) for states in SHOWN for state in states} | set(map(str, JobState)) - {JobState.SPREAD})


def said() -> Iterator[tuple[str, str]]:
    """(place, text up to its first value) of all that is passed to `progress` as a text."""
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            code = path.read_text(encoding="utf-8")
            for node in ast.walk(ast.parse(code)) if "progress" in code else ():
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "progress":
                    for argument in node.args[1:]:
                        text = argument.values[0] if isinstance(argument, ast.JoinedStr) else argument
                        if isinstance(text, ast.Constant) and isinstance(text.value, str):
                            yield f"{path.relative_to(ROOT)}:{node.lineno}", text.value


def details() -> Iterator[tuple[str, str]]:
    """(place, text) of all that is written between the values after a phrase, which no language translates."""
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.JoinedStr) and isinstance(node.values[0], ast.Constant):
                    phrase, colon, first = str(node.values[0].value).partition(": ")
                    if colon and phrase in WORDS:
                        rest = [str(part.value) for part in node.values[1:] if isinstance(part, ast.Constant)]
                        yield f"{path.relative_to(ROOT)}:{node.lineno}", first + "".join(rest)


@pytest.mark.parametrize("state", STATES)
def test_every_state_has_a_translatable_name(state):
    assert state.replace("_", " ") in WORDS


def test_messages_of_jobs_begin_with_a_translatable_phrase():
    found = list(said())
    assert len(found) > 30
    # The release is read before or after training: the phrase ends with what is put in.
    unknown = [
        (place, text)
        for place, text in found
        if text.partition(": ")[0] not in WORDS and not any(known.startswith(text) for known in WORDS)
    ]
    assert unknown == []


def test_the_rest_of_a_message_of_a_job_has_no_words():
    found = list(details())
    assert len(found) > 10
    assert [(place, text) for place, text in found if any(letter.isalpha() for letter in text)] == []


def test_reasons_for_missing_agreement_are_translatable():
    assert {NOTHING_SHARED, ONE_CATEGORY} <= WORDS


@pytest.mark.parametrize(
    ("code", "phrase"),
    [
        ("in_review", "in review"),
        ("generating foils", "generating foils"),
        ("loss: 0.125", "loss: 0.125"),
        ("wording: of_nobody", "wording: of nobody"),
        ("looked at the first sources: of_file", "first sources previewed: of file"),
        ("", ""),
    ],
)
def test_codes_are_shown_in_words(code, phrase):
    assert in_words(code) == phrase
