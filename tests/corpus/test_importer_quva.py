"""Windows of QUVA's repetitions, and their sampling, compared with independent computations and with ViLMA's files."""

import json
from collections import Counter

import numpy as np
import pytest

from foilworks.core.corpus.errors import CorpusError
from foilworks.core.corpus.import_formats import quva
from foilworks.core.corpus.import_formats.parsing.windows import frequencies, windows
from foilworks.core.corpus.records import BadRecord, ItemRecord

# Of the videos 000 to 099. The numbers of repetitions follow from the windows of ViLMA's public counting files (MIT
# licence): in 79 videos the windows reach from the first frame to the last repetition without a gap; in the others,
# missing repetitions are estimated from their mean length.
# fmt: off
REPETITIONS = [
    16, 14, 22, 8, 4, 5, 6, 5, 5, 5, 5, 9, 5, 7, 8, 24, 7, 15, 15, 35, 5, 8, 5, 7, 22, 4, 4, 6, 7, 7, 7, 6, 8, 7, 10,
    12, 10, 15, 5, 9, 5, 4, 12, 13, 23, 16, 23, 16, 8, 6, 13, 13, 15, 6, 16, 9, 12, 11, 6, 30, 63, 20, 48, 37, 8, 39,
    4, 4, 4, 7, 5, 30, 8, 6, 7, 27, 8, 14, 10, 9, 11, 9, 10, 21, 35, 8, 6, 14, 18, 5, 26, 25, 11, 5, 10, 4, 7, 6, 4, 6,
]
TEMPLATES = [
    2, 5, 1, 2, 2, 2, 4, 3, 3, 3, 3, 4, 3, 2, 3, 1, 1, 1, 2, 2, 2, 2, 2, 1, 2, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2,
    3, 2, 2, 3, 1, 2, 3, 3, 1, 2, 2, 2, 2, 1, 2, 2, 2, 2, 3, 1, 2, 1, 3, 2, 1, 1, 2, 2, 2, 1, 1, 2, 2, 1, 2, 2, 2, 4,
    4, 4, 2, 4, 1, 2, 3, 4, 4, 3, 3, 1, 1, 2, 2, 2, 2, 5, 3, 2, 2, 2, 2, 4,
]
# fmt: on
# Counts of the captions in counting-easy-spelled-pts.json and counting-hard-spelled-pts.json.
EASY = {1: 383, 2: 326, 3: 250}
DIFFICULT = {4: 330, 5: 202, 6: 126, 7: 89, 8: 64, 9: 53, 10: 31}
ENTRY = {
    "id": "000",
    "prefix": "000_rope_beach",
    "templates": ["a man skips rope exactly <number> times.", "someone skips rope exactly <number> times."],
    "singular_templates": ["a man skips rope exactly <number> time.", "someone skips rope exactly <number> time."],
    "frames": [13, 26, 40],
}
SEEDS = range(8)


def read(path, content, **params):
    path.write_text(json.dumps(content, indent=1), encoding="utf-8")
    return list(quva.read(path, params=params))


def variation(one, other) -> float:
    """Return the total variation of two tables of counts."""
    totals = sum(one.values()), sum(other.values())
    return sum(abs(one.get(key, 0) / totals[0] - other.get(key, 0) / totals[1]) for key in one.keys() | other) / 2


def test_windows_equal_an_independent_enumeration():
    frames = [13, 26, 40, 54, 67, 80]
    edges = np.array([0, *frames])
    first, last = np.triu_indices(len(edges), k=1)
    expected = {(int(edges[a]), int(edges[b]), int(b - a)) for a, b in zip(first, last, strict=True) if 2 <= b - a <= 4}
    found = windows(frames, 2, 4)
    assert {(one.start, one.end, one.count) for one in found} == expected
    assert len(found) == len(expected) == 5 + 4 + 3


def test_the_published_windows_of_a_video_are_among_them():
    """QUVA's annotation of video 000 is at 29 frames per second, ViLMA's windows at 30."""
    raw = [13, 26, 40, 54, 67, 80, 93, 106, 121, 134, 146, 159, 173, 186, 199, 212, 225]
    found = {(one.start, one.end, one.count) for one in windows([round(frame / 29 * 30) for frame in raw], 1, 10)}
    assert {(56, 96, 3), (13, 56, 3), (13, 125, 8), (56, 139, 6)} <= found


def test_frequencies_equal_the_published_formula():
    """`count_repetitions` of the published code: a video with n repetitions has n - count + 1 windows of a count."""
    videos = [list(range(10, 10 * n + 1, 10)) for n in REPETITIONS]
    expected = {count: sum(max(0, n - count + 1) for n in REPETITIONS) for count in range(4, 11)}
    assert frequencies(videos, 4, 10) == expected


@pytest.mark.parametrize(("counts", "released", "n"), [("easy", EASY, 999), ("difficult", DIFFICULT, 930)])
def test_sampled_counts_are_distributed_as_in_the_published_files(tmp_path, counts, released, n):
    entries = {
        f"{place:03d}": {
            "prefix": f"{place:03d}",
            "frames": list(range(10, 10 * repetitions + 1, 10)),
            "templates": [f"{kind} exactly <number> times." for kind in range(templates)],
            "singular_templates": [f"{kind} exactly <number> time." for kind in range(templates)],
        }
        for place, (repetitions, templates) in enumerate(zip(REPETITIONS, TEMPLATES, strict=True))
    }
    found: Counter[int] = Counter()
    for seed in SEEDS:
        outcomes = read(tmp_path / "t.json", entries, counts=counts, per_video=10, foils="published", seed=seed)
        items = [one for one in outcomes if isinstance(one, ItemRecord)]
        assert abs(len(items) - n) <= 15
        found.update(item.facts["count"] for item in items)
    assert variation(found, released) <= 0.03


def test_a_window_is_a_clip_with_a_filled_template(tmp_path):
    found = read(tmp_path / "counting.json", {"000": ENTRY}, max=10)
    assert [(item.video.start_time, item.video.end_time, item.facts["count"]) for item in found] == [
        (0.0, 13.0, 1),
        (0.0, 26.0, 2),
        (0.0, 40.0, 3),
        (13.0, 26.0, 1),
        (13.0, 40.0, 2),
        (26.0, 40.0, 1),
    ]
    item = found[1]
    place = item.facts["template_id"]
    assert item.id == f"counting:000-0000-0026-2-{place}"
    assert item.caption == ENTRY["templates"][place].replace("<number>", "two")
    assert (item.video.key, item.video.time_unit) == ("QUVA/000_rope_beach.mp4@0-26frames", "frames")
    assert item.facts["frames"] == [0, 13, 26]
    assert item.facts["repetitions"] == 3
    assert found[0].caption in [text.replace("<number>", "one") for text in ENTRY["singular_templates"]]
    digits = read(tmp_path / "counting.json", {"000": ENTRY}, style="digits")
    assert digits[1].caption == item.caption.replace("two", "2")


def test_published_foils_count_on_the_other_side_of_the_threshold(tmp_path):
    entry = {**ENTRY, "frames": list(range(5, 60, 5))}
    found = read(tmp_path / "c.json", {"000": entry}, counts="easy", foils="published", per_video=10)
    assert found
    for item in found:
        (foil,) = item.extra["classes_foil"]
        assert item.extra["class"] <= 3 < foil
        assert len(item.foils) == 1


def test_windows_of_one_need_a_singular_template(tmp_path):
    entry = {name: value for name, value in ENTRY.items() if name != "singular_templates"}
    assert {item.facts["count"] for item in read(tmp_path / "c.json", {"000": entry})} == {2, 3}


def test_frames_are_read_from_the_files_of_the_data_set(tmp_path):
    folder = tmp_path / "annotations"
    folder.mkdir()
    np.save(folder / "000_rope_beach.npy", np.array([13, 26, 40]))
    entry = {name: value for name, value in ENTRY.items() if name != "frames"}
    listed = read(tmp_path / "c.json", {"000": ENTRY})
    assert read(tmp_path / "c.json", {"000": entry}) == listed
    (bad,) = read(tmp_path / "c.json", {"000": {**entry, "prefix": "other"}})
    assert bad.problem == "is missing, and there is no annotations/other.npy"


@pytest.mark.parametrize(
    "array",
    [np.array([[1, 2]]), np.array(["a"]), np.array([object()]), np.arange(20_000) + 1],
    ids=lambda one: one.dtype,
)
def test_an_array_of_anything_else_is_refused(tmp_path, array):
    folder = tmp_path / "annotations"
    folder.mkdir()
    np.save(folder / "000_rope_beach.npy", array)
    (bad,) = read(tmp_path / "c.json", {"000": {**ENTRY, "frames": None}})
    assert isinstance(bad, BadRecord)
    assert bad.field.startswith("frames")


def test_errors_name_the_field_and_the_problem(tmp_path):
    entries = {
        "a": {**ENTRY, "frames": [13, 13]},
        "b": {**ENTRY, "frames": []},
        "c": {**ENTRY, "templates": []},
        "d": {**ENTRY, "templates": ["a man skips rope."]},
        "e": {**ENTRY, "singular_templates": ["exactly <number> time"]},
        "f": {**ENTRY, "prefix": "../a"},
    }
    found = read(tmp_path / "c.json", entries)
    assert [str(one).partition(": ")[2] for one in found] == [
        "frames[1]: is 13, not a whole number after 13; give the frames at which the repetitions end, in order",
        "frames: is no list of frames; give 1 to 10000 frames",
        "templates: is empty; give one template with <number>",
        "templates[0]: does not contain <number> once; write it once",
        "singular_templates: has 1 texts, but there are 2 templates; give one per template, or none",
        "prefix: '../a' leaves the media folder; give a path below it",
    ]


@pytest.mark.parametrize(
    ("params", "problem"),
    [
        ({"threshold": 5, "max": 4}, "parameters 'threshold' and 'max' are 5 and 4"),
        ({"max": 99}, "parameters 'threshold' and 'max' are 3 and 99"),
        ({"per_video": -1}, "parameter 'per_video' is -1"),
    ],
)
def test_invalid_parameters_are_named(tmp_path, params, problem):
    with pytest.raises(CorpusError, match=problem):
        read(tmp_path / "c.json", {"000": ENTRY}, **params)
