import json

import pytest

from foilworks.core.corpus.import_formats import valse
from foilworks.core.corpus.records import BadRecord, ItemRecord, VideoRecord, VoteCounts

EXISTENCE = {
    "dataset": "visual7w",
    "dataset_idx": "5",
    "image_file": "v7w_5.jpg",
    "linguistic_phenomena": "existence",
    "caption": "There are no people.",
    "foil": "There are people.",
    "classes": 0,
    "split": "test",
    "original_split": "test",
    "mturk": {"foil": 0, "caption": 3, "other": 0},
}


def read(tmp_path, records, name="existence.json"):
    path = tmp_path / name
    path.write_text(records if isinstance(records, str) else json.dumps(records, indent=4), encoding="utf-8")
    return list(valse.read(path, params={}))


def test_a_record_is_an_item_with_a_picture_for_a_clip(tmp_path):
    (item,) = read(tmp_path, {"existence_5": EXISTENCE})
    kept = ("dataset", "dataset_idx", "image_file", "linguistic_phenomena", "classes", "split", "original_split")
    assert item == ItemRecord(
        id="existence:existence_5",
        subtest="existence",
        test="existence",
        video=VideoRecord(key="visual7w/v7w_5.jpg", source_dataset="visual7w", source_id="v7w_5.jpg", split="test"),
        caption="There are no people.",
        foils=("There are people.",),
        votes=VoteCounts(caption=3, foil=0, other=0),
        extra={name: EXISTENCE[name] for name in kept},
    )


def test_equal_pictures_of_two_files_are_one_clip(tmp_path):
    (one,) = read(tmp_path, {"a": EXISTENCE})
    (two,) = read(tmp_path, {"a": {**EXISTENCE, "dataset_idx": "6"}}, "counting.json")
    assert one.video.key == two.video.key
    assert one.id != two.id


def test_captions_in_a_list_are_read_the_first_counts_and_all_are_kept(tmp_path):
    plural = {**EXISTENCE, "caption": ["two dogs.", "a few dogs."], "foil": ["one dog."]}
    (item,) = read(tmp_path, {"a": plural})
    assert (item.caption, item.foils, item.extra["captions"]) == ("two dogs.", ("one dog.",), plural["caption"])
    (single,) = read(tmp_path, {"a": {**plural, "caption": ["two dogs."]}})
    assert (single.caption, "captions" in single.extra) == ("two dogs.", False)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"image_file": None}, "image_file: is missing; give image_file, or import videos as vilma"),
        ({"caption": []}, "caption: is a list; give text"),
        ({"caption": ["", "x"]}, "caption: is empty; give the text"),
        ({"foil": None}, "foils: is missing; give at least one foil"),
        ({"mturk": {"caption": -3}}, "mturk.caption: is the number -3; give a count from 0 up"),
    ],
)
def test_an_unusable_file_gives_one_line_with_the_remedy(tmp_path, changes, words):
    (bad,) = read(tmp_path, {"a": {**EXISTENCE, **changes}})
    assert isinstance(bad, BadRecord)
    assert str(bad) == f"{tmp_path / 'existence.json'}:2: {words}"


def test_a_record_that_is_not_an_object_is_bad(tmp_path):
    (bad,) = read(tmp_path, '{"a": 5}')
    assert (bad.field, bad.problem) == ("record", "is the number 5")
