"""Item and vote files -> facts."""

import pytest

from evaluation.analyses.analysis_inputs import CHOICES, NOBODY, OTHER, ProficiencyFacts
from evaluation.score_files.items import is_unanimous, is_valid, is_valid_proficiency, read_items, read_votes
from foilworks.core.corpus.records import VoteCounts
from foilworks.core.text.errors import ActionableError

VILMA = {
    "v1": {
        "dataset": "d",
        "youtube_id": "y",
        "video_file": None,
        "start_time": 1,
        "end_time": 2,
        "time_unit": "sec",
        "caption": "a man opens a box",
        "foils": ["a man closes a box"],
        "proficiency": {
            "caption": "a box",
            "foils": ["a cup"],
            "human": {"caption": 1, "foil": 0, "other": 0},
        },
        "mturk": {"caption": 2, "foil": 1, "other": 0},
    },
}


class TestItems:
    def test_a_vilma_file_is_one_subtest_with_votes_and_proficiency(self, write):
        (got,), warnings = read_items([write("opening.json", VILMA)])
        assert (got.subtest, got.caption, got.foils) == ("opening", "a man opens a box", ("a man closes a box",))
        assert got.tallies == ((2, 1, 0),)
        assert (got.valid, got.unanimous) == (True, False)
        assert got.proficiency == ProficiencyFacts("a box", ("a cup",), True)
        assert not warnings

    def test_a_line_needs_only_a_caption_and_a_foil(self, write):
        rich = {"caption": "c", "foil": "d", "subtest": "s", "votes": {"caption": 3}}
        rich["proficiency"] = {"caption": "e", "foils": ["f"]}
        (plain, full), _ = read_items([write("x.jsonl", {"caption": "a", "foils": ["b"]}, rich)])
        assert (plain.id, plain.subtest, plain.valid, plain.tallies) == ("1", "x", None, ())
        assert (full.subtest, full.valid, full.unanimous) == ("s", True, True)
        assert full.proficiency == ProficiencyFacts("e", ("f",), None)

    def test_doubtful_records_count_unchanged_and_are_listed(self, write):
        nobody = {"caption": "a", "foils": ["b"], "votes": {"caption": 0, "foil": 0, "other": 0}}
        items, warnings = read_items(
            [write("x.jsonl", {"caption": "a", "foils": ["a"]}, {"caption": "a", "foils": ["b", "b"]}, nobody)]
        )
        assert len(items) == 3
        assert items[2].valid is False
        assert [line.split("x.jsonl")[1] for line in warnings] == [
            ":1: foils: a foil equals the caption",
            ":2: foils: a foil occurs twice",
            ":3: votes: there are none; the item counts as not valid",
        ]

    @pytest.mark.parametrize(
        ("record", "complaint"),
        [
            ({"foils": ["b"]}, "x.jsonl:1: caption: is missing"),
            ({"caption": "", "foils": ["b"]}, "x.jsonl:1: caption: is not text"),
            ({"caption": "a", "foils": []}, "x.jsonl:1: foils: is missing or empty"),
            ({"caption": "a", "foils": ["b", 3]}, r"x.jsonl:1: foils\[1\]: is not text"),
            ({"caption": "a"}, "x.jsonl:1: foil: is missing"),
            ({"caption": "a", "foils": ["b"], "votes": {"caption": -1}}, "x.jsonl:1: votes.caption: is -1"),
            ({"caption": "a", "foils": ["b"], "votes": 3}, "x.jsonl:1: votes: is not an object"),
            ({"caption": "a", "foils": ["b"], "proficiency": {"caption": "c"}}, "x.jsonl:1: proficiency.foil: is miss"),
        ],
    )
    def test_a_bad_line_is_named_with_its_field(self, write, record, complaint):
        with pytest.raises(ActionableError, match=complaint):
            read_items([write("x.jsonl", record)])

    def test_a_bad_record_of_an_import_format_is_an_error_too(self, write):
        bad = {"v1": {**VILMA["v1"], "foils": []}}
        with pytest.raises(ActionableError, match=r"x.json:1: foils: "):
            read_items([write("x.json", bad)])

    def test_an_unknown_format_lists_the_known(self, write):
        with pytest.raises(ActionableError, match=r"unknown format 'xml'.*vilma"):
            read_items([write("x.json", VILMA)], "xml")


@pytest.mark.parametrize(
    ("counts", "valid", "unanimous"),
    [
        ((3, 0, 0), True, True),
        ((2, 1, 0), True, False),
        ((2, 0, 2), False, False),
        ((1, 0, 0), False, False),
        ((0, 0, 0), False, False),
        ((2, 0, 0), True, False),
        ((3, 2, 0), True, False),
    ],
)
def test_an_item_needs_two_validators_and_more_than_half(counts, valid, unanimous):
    assert (is_valid(VoteCounts(*counts)), is_unanimous(VoteCounts(*counts))) == (valid, unanimous)


@pytest.mark.parametrize(
    ("counts", "valid"), [((1, 0, 0), True), ((0, 1, 0), False), ((0, 0, 1), False), ((3, 1, 0), True)]
)
def test_a_proficiency_item_needs_its_one_validator(counts, valid):
    assert is_valid_proficiency(VoteCounts(*counts)) is valid


class TestVotes:
    def test_choices_in_words_and_by_number(self, write):
        path = write(
            "v.csv",
            "item,annotator,choice,position",
            "x,ann,caption,",
            "x,bob,1,1",
            "x,cy,1,2",
            "x,di,2,2",
            "y,ann,5,1",
            "y,bob,Cannot tell,",
            "y,cy,other,",
        )
        votes = read_votes(path)
        names = [(*CHOICES, "other")[code] for code in votes.choice]
        # "first" with the caption first is the caption; with the caption second it is the foil.
        assert names == ["caption", "caption", "foil", "caption", "cannot_tell", "cannot_tell", "other"]
        assert list(votes.position) == [0, 1, 2, 2, 1, 0, 0]
        assert votes.choice[-1] == OTHER
        assert (votes.n_items, votes.unit_names, votes.annotator_names) == (2, ["x", "y"], ["ann", "bob", "cy", "di"])

    def test_foils_of_an_item_are_judged_apart(self, write):
        lines = [{"item": "x", "foil": foil, "annotator": "a", "choice": "caption"} for foil in (0, 1)]
        votes = read_votes(write("v.jsonl", *lines))
        assert votes.unit_names == ["x/0", "x/1"]
        assert votes.n_items == 1

    def test_votes_that_came_as_counts_name_nobody(self, write):
        header, count = "item,annotator,choice,source", "unnamed-1,caption,import"
        path = write(
            "v.csv",
            header,
            f"x,{count}",
            "x,unnamed-2,foil,import",
            f"y,{count}",
            "y,ann,foil,import",
            "y,unnamed-2,foil,",
        )
        votes = read_votes(path)
        # Without the source of an export it is somebody's name.
        assert list(votes.annotator) == [NOBODY, NOBODY, NOBODY, 0, 1]
        assert votes.annotator_names == ["ann", "unnamed-2"]
        with pytest.raises(ActionableError, match="annotator: 'unnamed-1' judged item 'x' twice"):
            read_votes(write("v.csv", header, f"x,{count}", f"x,{count}"))

    def test_each_pair_knows_its_item(self, write):
        pairs = [("y", 0), ("x", 0), ("y", 1)]
        lines = [{"item": item, "foil": foil, "annotator": "a", "choice": "caption"} for item, foil in pairs]
        votes = read_votes(write("v.jsonl", *lines))
        assert (votes.unit_names, list(votes.unit_items), votes.n_items) == (["y/0", "x/0", "y/1"], [0, 1, 0], 2)

    @pytest.mark.parametrize(
        ("lines", "complaint"),
        [
            (["item,annotator"], "v.csv:1: choice: there is no such column"),
            (["item,annotator,choice"], "v.csv: record: there is none"),
            (["item,annotator,choice", "x,a,maybe"], "v.csv:2: choice: is 'maybe'; give one of: caption, foil"),
            (["item,annotator,choice", "x,a,1"], "v.csv:2: position: is missing"),
            (["item,annotator,choice,position", "x,a,1,3"], "v.csv:2: position: is '3'"),
            (["item,annotator,choice", "x,,foil"], "v.csv:2: annotator: is missing"),
            (["item,annotator,choice", "x,a,foil", "x,a,foil"], "v.csv:3: annotator: 'a' judged item 'x' twice"),
            (["item,annotator,choice", "x,a,foil,3"], "v.csv:2: record: has more cells"),
            (["item,annotator,choice", '"x,a,foil'], "v.csv:2: quotes: a quoted text is not closed"),
        ],
    )
    def test_a_bad_vote_is_named_with_its_field(self, write, lines, complaint):
        with pytest.raises(ActionableError, match=complaint):
            read_votes(write("v.csv", *lines))
