"""What a release says of itself is true of this release, and what it cannot tell it leaves out."""

from dataclasses import replace

import pytest

from foilworks.core.corpus.export_formats.parts.documents import own_answers
from foilworks.core.corpus.export_formats.parts.facts import facts_of
from foilworks.core.corpus.records import ItemRecord, VideoRecord
from tests.corpus.releases import release_of


def told(slug, **fields):
    """The answer of a release of three items."""
    records = [
        ItemRecord(
            id=name, subtest="s", test="t", video=VideoRecord(key=name), caption="a man runs", foils=("a man walks",)
        )
        for name in "abc"
    ]
    release = release_of(records)
    items = [{**item, **more} for item, more in zip(release.items, fields.pop("items", [{}] * 3), strict=True)]
    (line,) = own_answers(facts_of(replace(release, items=tuple(items), **fields)))[slug]
    return line


def filtered(*passed):
    """Provenance of an item's foil by what filters said of it."""
    filters = [
        {"filter": name, "version": "1", "score": 0.5, "passed": said} for name, said in zip("gn", passed, strict=False)
    ]
    return {"provenance": [{"filters": filters}]}


def test_filters_are_listed_with_the_number_of_foils_that_passed():
    assert told("preprocessing.done", items=[filtered(True, True), filtered(False), {"provenance": [None]}]) == (
        "Filters with their versions, and how many of the released foils passed each one: "
        "g 1 (1 of 3; 1 accepted after its threshold "
        "changed), n 1 (1 of 3)."
    )
    assert told("preprocessing.done").startswith("No automatic filter is recorded")


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (
            [{"found_valid": True}, {"found_valid": False}],
            ": 1 passed, too, but were left out of the release or decided later; 1 did not pass",
        ),
        ([{"found_valid": None}, {"found_valid": None}], ": 2 are undecided"),
        # A record of before says nothing of it.
        ([{}, {"found_valid": True}], ""),
    ],
)
def test_items_left_out_are_not_reported_as_rejected(found, said):
    others = [{**one, "released": False} for one in found]
    assert told("composition.sample", items=[{}, *others]) == (
        "The release is a selection of 1 items that passed validation. "
        f"`items.jsonl` also lists 2 items that are not released{said}."
    )


def row(name, **fields):
    return {"name": name, "stopped": False, "too_few": False, "unread": False, **fields}


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([row("a"), row("b")], ""),
        ([row("a"), row("b", too_few=True)], " Of 2 subtests 1 had too few captions."),
        (
            [row("a", too_few=True, unread=True), row("b", unread=True)],
            " Of 2 subtests 1 had too few captions and 1 had pairs that a language model did not score.",
        ),
        # A gate of before says nothing of it.
        ([{"name": "a", "stopped": False, "too_few": False}], ""),
    ],
)
def test_unknown_results_of_the_audit_are_not_reported_as_passed(rows, said):
    gate = {"rows": rows, "stopped": []}
    expected = "The blind audit below found no subtest that is solved without the video."
    assert told("uses.impacts", gate=gate) == expected + said
    gate = {"rows": [*rows, row("c", stopped=True, unread=True)], "stopped": ["c"]}
    assert told("uses.impacts", gate=gate).startswith("Solved without the video, and released with a reason: c (see")
