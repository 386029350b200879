"""A score file of a stranger against a release: what is wrong is named with its line and nothing wrong is taken."""

import json
import math

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from foilworks.site.publishing.submitted import MAX_PROBLEMS, BadScoresError, check_scores

RECORDS = [
    {"id": "a:1", "foils": ["x"], "proficiency": {"foils": ["y"], "valid": True}},
    {"id": "a:2", "foils": ["x", "z"], "proficiency": None},
]
GOOD = [
    {"id": "a:1", "caption": 0.5, "foils": [0.25], "proficiency": {"caption": 1, "foils": [-2]}},
    {"id": "a:2", "caption": 1, "foils": [0.1, 0.2]},
]


def problems(tmp_path, *lines, records=RECORDS):
    path = tmp_path / "scores.jsonl"
    path.write_bytes(b"\n".join(each if isinstance(each, bytes) else json.dumps(each).encode() for each in lines))
    try:
        check_scores(path, records)
    except BadScoresError as error:
        return error.problems
    return []


def test_a_complete_file_is_accepted_also_with_blank_lines_and_a_byte_order_mark(tmp_path):
    path = tmp_path / "scores.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + "\n\n".join(map(json.dumps, GOOD)).encode() + b"\n")
    assert check_scores(path, RECORDS) == GOOD


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b'{"id": "a:1", "caption": NaN, "foils": [1]}', "line 2: caption: is nan; give a finite number"),
        (b'{"id": "a:1", "caption": 1e999, "foils": [1]}', "line 2: caption: is inf; give a finite number"),
        (b'{"id": "a:1", "caption": 1, "foils": [-Infinity]}', "line 2: foils[0]: is -inf; give a finite number"),
        (b'{"id": "a:1", "caption": 1' + b"0" * 400 + b', "foils": [1]}', "line 2: caption: is inf"),
        (b'{"id": "a:1", "caption": true, "foils": [1]}', "line 2: caption: is True; give a finite number"),
        (b'{"id": "a:1", "caption": "1", "foils": [1]}', "line 2: caption: is '1'; give a finite number"),
        (b'{"id": "a:1", "foils": [1]}', "line 2: caption: is missing; give a finite number"),
        (b'{"id": "a:1", "caption": 1}', "line 2: foils: is missing or empty"),
        (b'{"id": "a:1", "caption": 1, "foils": [1, 2]}', "line 2: foils: has 2 scores, but the item has 1 foils"),
        (b'{"id": "a:2", "caption": 1, "foils": [1, 2]}', "line 2: id: 'a:2' occurs twice in the file"),
        (b'{"id": "b:9", "caption": 1, "foils": [1]}', "line 2: id: 'b:9' is not an item of the release"),
        (b'{"id": "", "caption": 1, "foils": [1]}', "line 2: id: is not text"),
        (b'{"id": "a:1", "caption": 1, "foils": [1], "higher_is_better": false}', "line 2: higher_is_better: is not"),
        (
            b'{"id": "a:1", "caption": 1, "foils": [1], "proficiency": {"caption": 1, "foils": []}}',
            "line 2: proficiency.foils: is missing or empty",
        ),
        (b'{"id": "a:1", "caption": 1, "foils": [1], "proficiency": [1]}', "line 2: proficiency: is not an object"),
        (b'{"id": "a:1", "caption": 1, "foils": [0], "scores": [1]}', "line 2: scores: is used together with caption"),
        (
            b'{"id":"a:1","caption":1,"foils":[0],"proficiency":{"caption":1,"foils":[0],"scores":[1,2,3]}}',
            "line 2: proficiency.scores: is used together with caption and foils; leave it out",
        ),
        (b"[1, 2]", "line 2: record: is not an object"),
        (b'{"id": "a:1"', "line 2: record: is not JSON"),
        (
            b'{"id": "a:1", "caption": 1, "caption": 2, "foils": [1]}',
            "line 2: record: is not JSON, or contains a name twice",
        ),
        (b"[" * 100_000, "line 2: record: is not JSON"),
        (b'{"id": "\xff"}', "line 2: record: is not UTF-8"),
        (b'{"id": "a:1", "caption": 1, "foils": [1], "x": "' + b"x" * 1_100_000 + b'"}', "line 2: record: is not JSON"),
    ],
)
def test_errors_are_named_with_their_line_and_field(tmp_path, line, said):
    assert problems(tmp_path, GOOD[1], line)[0].startswith(said)


def test_missing_items_are_counted_and_named(tmp_path):
    assert problems(tmp_path, GOOD[0]) == ["id: 1 items of the release are missing: 'a:2'; score every item"]
    assert problems(tmp_path) == ["id: 2 items of the release are missing: 'a:1', 'a:2'; score every item"]


def test_proficiency_scores_of_an_item_that_has_none_are_refused(tmp_path):
    extra = {**GOOD[1], "proficiency": {"caption": 1, "foils": [2]}}
    assert problems(tmp_path, GOOD[0], extra)[0].startswith("line 2: proficiency: the item has no proficiency pair")


class TestPairs:
    """Eight items with a valid proficiency pair, one with a pair that nobody found valid."""

    RECORDS = [
        {"id": f"a:{k}", "foils": ["x"], "proficiency": {"foils": ["y"], "valid": True if k < 8 else None}}
        for k in range(9)
    ]

    def sent(self, tmp_path, chosen):
        pair = {"proficiency": {"caption": 1, "foils": [0]}}
        lines = [{"id": f"a:{k}", "caption": 1, "foils": [0], **(pair if k in chosen else {})} for k in range(9)]
        return problems(tmp_path, *lines, records=self.RECORDS)

    def test_a_submitter_cannot_choose_the_scored_pairs(self, tmp_path):
        (said,) = self.sent(tmp_path, {1, 8})
        assert said == (
            "proficiency: 7 valid pairs of the release are missing, while other pairs have scores: 'a:0', 'a:2', "
            "'a:3', "
            "'a:4', 'a:5' and 2 more; score every valid pair or none"
        )
        assert self.sent(tmp_path, set(range(7)))[0].startswith("proficiency: 1 valid pairs")

    @pytest.mark.parametrize("chosen", [range(8), range(9), (), (8,)], ids=["all", "and more", "none", "the other"])
    def test_every_valid_pair_or_none(self, tmp_path, chosen):
        assert self.sent(tmp_path, set(chosen)) == []


def test_a_file_full_of_mistakes_is_not_read_to_its_end(tmp_path):
    found = problems(tmp_path, *[b"x"] * 1000)
    assert len(found) == MAX_PROBLEMS + 1
    assert found[-1] == "… and possibly more"


numbers = st.floats() | st.integers() | st.none() | st.text(max_size=3) | st.booleans()
rows = st.fixed_dictionaries(
    {"id": st.sampled_from(["a:1", "a:2", "a:3", "", 7]), "caption": numbers, "foils": st.lists(numbers, max_size=3)},
    optional={"proficiency": st.none() | st.fixed_dictionaries({"caption": numbers, "foils": st.lists(numbers)})},
)


@pytest.mark.full
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(rows, max_size=4))
def test_every_accepted_file_is_complete_and_finite(tmp_path, given_rows):
    if problems(tmp_path, *given_rows):
        return
    assert sorted(row["id"] for row in given_rows) == ["a:1", "a:2"]
    for row in given_rows:
        values = [row["caption"], *row["foils"]]
        assert all(math.isfinite(value) and not isinstance(value, bool) for value in values)
