import json

import pytest

from foilworks.core.corpus.errors import CorpusError
from foilworks.core.corpus.import_formats import vilma
from foilworks.core.corpus.records import BadRecord, ItemRecord, PairRecord, RecordWarning, VideoRecord, VoteCounts

# Every spelling that the published files use, in records of our own.
COUNTING = {
    "dataset": "QUVA",
    "original_split": "test",
    "dataset_idx": "000",
    "youtube_id": None,
    "video_file": "000_rope.mp4",
    "start_time": 1.8667,
    "end_time": 3.2,
    "time_unit": "sec",
    "caption": "a man skips exactly three times.",
    "foils": ["a man skips exactly nine times."],
    "template": "a man skips exactly <number> times.",
    "class": 3,
    "classes_foil": [9],
    "proficiency": {
        "caption": "a man skips.",
        "foils": ["a man climbs."],
        "mask_target": "skips",
        "human": {"foil": 0, "caption": 1, "other": 0},
    },
    "mturk": {"foil": 0, "caption": 3, "other": 0},
}
RELATION = {
    "dataset": "something-something-v2",
    "original_split": "validation",
    "dataset_idx": "63238",
    "linguistic_phenomena": "spatial-relations",
    "youtube_id": None,
    "video_file": "63238",
    "start_time": None,
    "end_time": None,
    "time_unit": "sec",
    "caption": "rolling a can on a table",
    "foils": ["rolling a can off a table"],
    "class": "on",
    "proficiency": None,
}
RARE = {
    "dataset": "RareAct",
    "dataset_idx": 6,
    "youtube_id": "QaMW4kKYbNM",
    "video_file": None,
    "start_time": 60,
    "end_time": 70,
    "time_unit": None,
    "caption": "throwing a shirt",
    "foil": "buying a shirt",
    "mturk": {"foil": 1, "caption": 1, "other": 1},
}


def read(tmp_path, records, name="relations.json"):
    path = tmp_path / name
    path.write_text(records if isinstance(records, str) else json.dumps(records, indent=4), encoding="utf-8")
    return list(vilma.read(path, params={}))


def test_votes_proficiency_and_unknown_fields_are_read(tmp_path):
    (item,) = read(tmp_path, {"counting-000": COUNTING}, "counting.json")
    assert item == ItemRecord(
        id="counting:counting-000",
        subtest="counting",
        video=VideoRecord(
            key="QUVA/000_rope.mp4@1.8667-3.2",
            file="000_rope.mp4",
            source_dataset="QUVA",
            source_id="000_rope.mp4",
            start_time=1.8667,
            end_time=3.2,
            split="test",
        ),
        caption="a man skips exactly three times.",
        foils=("a man skips exactly nine times.",),
        proficiency=PairRecord("a man skips.", ("a man climbs.",), VoteCounts(1, 0, 0), {"mask_target": "skips"}),
        votes=VoteCounts(caption=3, foil=0, other=0),
        extra={
            "dataset": "QUVA",
            "original_split": "test",
            "dataset_idx": "000",
            "youtube_id": None,
            "video_file": "000_rope.mp4",
            "template": "a man skips exactly <number> times.",
            "class": 3,
            "classes_foil": [9],
        },
        facts={"class": 3, "template": "a man skips exactly <number> times.", "count": 3},
    )


def test_nulls_and_the_other_spellings_are_read(tmp_path):
    relation, rare = read(tmp_path, {"0": RELATION, "1": RARE})
    assert (relation.id, relation.test) == ("relations:0", "spatial-relations")
    assert relation.video == VideoRecord(
        key="something-something-v2/63238",
        file="63238",
        source_dataset="something-something-v2",
        source_id="63238",
        split="val",
    )
    assert (relation.proficiency, relation.votes) == (None, None)
    assert (rare.foils, rare.votes) == (("buying a shirt",), VoteCounts(1, 1, 1))
    assert (rare.video.key, rare.video.file) == ("RareAct/QaMW4kKYbNM@60-70", "QaMW4kKYbNM")
    assert rare.extra["dataset_idx"] == 6
    assert "count" not in relation.facts


def test_a_still_picture_of_valse_is_an_item_without_a_media_file(tmp_path):
    record = {"dataset": "visual7w", "dataset_idx": "5", "image_file": "v7w_5.jpg", "caption": "x", "foil": "y"}
    (item,) = read(tmp_path, {"existence_5": {**record, "classes": 0, "split": "test"}}, "existence.json")
    assert (item.video.file, item.video.source_id, item.video.split) == ("", "5", "test")
    assert item.extra["classes"] == 0


def test_a_list_of_records_is_read_too(tmp_path):
    named, unnamed = read(tmp_path, [{**RELATION, "id": "x"}, RELATION])
    assert named.id == "relations:x"
    assert unnamed.id == f"relations:line-{unnamed.line}"


def test_files_that_number_alike_do_not_meet(tmp_path):
    (a,), (b,) = read(tmp_path, {"0": RELATION}), read(tmp_path, {"0": RELATION}, "actions.json")
    assert (a.id, b.id) == ("relations:0", "actions:0")
    assert a.video.key == b.video.key


def test_pts_trims_are_numbers_of_frames_and_several_foils_are_read(tmp_path):
    """In the released counting files 56 to 96 `pts` are 1.8667 to 3.2 `sec`: 30 frames a second."""
    (item,) = read(tmp_path, {"0": {**RARE, "time_unit": "pts", "foil": None, "foils": ["x", "y"]}})
    assert (item.video.time_unit, item.video.key) == ("frames", "RareAct/QaMW4kKYbNM@60-70frames")
    assert item.foils == ("x", "y")


def test_a_bad_record_is_named_by_the_line_it_starts_on_and_the_good_ones_stay(tmp_path):
    outcomes = read(tmp_path, {"0": RELATION, "1": {**RELATION, "caption": ""}, "2": RARE})
    assert [type(outcome) for outcome in outcomes] == [ItemRecord, BadRecord, ItemRecord]
    text = (tmp_path / "relations.json").read_text(encoding="utf-8").split("\n")
    line = int(outcomes[1].where.rpartition(":")[2])
    assert text[line - 1].strip() == '"1": {'
    assert (outcomes[1].field, outcomes[1].problem) == ("caption", "is empty")


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"foils": None}, "foils"),
        ({"foils": []}, "foils"),
        ({"caption": None}, "caption"),
        ({"mturk": {"caption": -3, "foil": 0, "other": 0}}, "mturk.caption"),
        ({"class": float("nan")}, "class"),
        ({"video_file": "../../x.mp4"}, "video_file"),
        ({"video_file": None, "dataset_idx": None}, "video_file"),
        ({"start_time": "soon"}, "start_time"),
        ({"caption": "x" * 1_000_000}, "caption"),
        ({"proficiency": {"caption": "x", "foils": ["y"], "human": {"caption": -1}}}, "proficiency.human.caption"),
    ],
)
def test_a_bad_value_is_named_by_its_field(tmp_path, changes, field):
    (bad,) = read(tmp_path, {"0": {**RELATION, **changes}})
    assert isinstance(bad, BadRecord)
    assert bad.field == field


def test_the_same_key_twice_is_a_bad_second_record(tmp_path):
    one = json.dumps(RELATION)
    first, bad = read(tmp_path, f'{{"0": {one},\n"0": {one}}}')
    assert first.line == 1
    assert (bad.field, bad.where.rpartition(":")[2]) == ("id", "2")


def test_a_foil_that_repeats_its_caption_is_refused_unless_people_judged_it(tmp_path):
    same = {**RELATION, "foils": [RELATION["caption"]]}
    judged = {**same, "mturk": {"foil": 1, "caption": 2, "other": 0}}
    unjudged = {name: value for name, value in same.items() if name != "mturk"}
    bad, warning, item = read(tmp_path, {"0": unjudged, "1": judged})
    assert isinstance(bad, BadRecord)
    assert (bad.field, warning.field) == ("foils", "foils")
    assert isinstance(warning, RecordWarning)
    assert item.foils == (item.caption,)


def test_doubtful_records_are_taken_and_named(tmp_path):
    outcomes = read(
        tmp_path,
        {
            "0": {**RELATION, "foils": ["A man sits."] * 2},
            "1": {**RELATION, "mturk": {"foil": 0, "caption": 0, "other": 0}},
            "2": {**RELATION, "proficiency": {"mask_target": "keyboard"}},
        },
    )
    assert [outcome.field for outcome in outcomes if isinstance(outcome, RecordWarning)] == [
        "foils",
        "votes",
        "proficiency",
    ]
    third = outcomes[-1]
    assert third.proficiency is None
    assert third.extra["proficiency"] == {"mask_target": "keyboard"}


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ('{\n"a": {\n"class": "cutting"\n"caption": "x"}}', 4, "JSON: Expecting ',' delimiter"),
        ('{\n"a": {"caption": "x"},\n"b": {"capt', 3, "JSON: Unterminated string"),
        ('{\n"a": {"caption": "x"},\n', 3, "JSON: '\"' is expected here"),
        ('{\n"a": {}\n', 3, "JSON: ',' is expected here"),
        ('{"a": {}\n}\n{"b": {}}', 3, "JSON: goes on after its end"),
        ("5", 1, "JSON: is neither an object nor a list"),
        ("no JSON at all", 1, "JSON: is neither an object nor a list"),
        ('{"a": ' + "[" * 100_000, 1, "JSON: cannot be parsed"),
        ('{\n"a": ' + "9" * 5_000 + "}", 2, "JSON: cannot be parsed"),
        ('{"a": {"caption": "\x00"}}', 1, "JSON: Invalid control character"),
    ],
)
def test_broken_json_is_one_line_with_its_place(tmp_path, text, line, words):
    with pytest.raises(CorpusError) as caught:
        read(tmp_path, text)
    message = str(caught.value)
    assert message.startswith(f"{tmp_path / 'relations.json'}:{line}: {words}")
    assert message.endswith("; fix the file there, or get a complete copy")
    assert "\n" not in message
