"""import(export(x)) == x for every format that goes both ways, by hand and with anything in its texts.

`jsonl`, `vilma`: test_exporters; `csv`, `hf`: test_exporters_tables. Here are the formats that hold less than a record
does: what is read from a file of theirs comes back from the file that is written of it, unknown fields included.
"""

import csv
import json
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from foilworks.core.corpus.export_formats import votes as votes_exporter
from foilworks.core.corpus.export_formats.registry import EXPORTERS
from foilworks.core.corpus.import_formats import votes as votes_importer
from foilworks.core.corpus.import_formats.registry import IMPORTERS
from foilworks.core.corpus.records import BadRecord, ItemRecord, ReleaseVote
from foilworks.core.corpus.vote_records import CHOICES, VoteRecord
from foilworks.core.text.registry import load, parse_params
from tests.corpus.releases import extras, hostile, release_of, sentences

FEW = settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
VIDEOS = st.sampled_from(["v1", "vidé o_000001", "=cmd", "a.b", "-7"])
COUNTS = st.fixed_dictionaries({"caption": st.integers(0, 3), "foil": st.integers(0, 3), "other": st.integers(1, 3)})


def fields(**named):
    """Records with these fields and any others, whose names mean nothing to the format."""
    own = st.dictionaries(
        st.sampled_from(["note", "x y", "<b>", "ünï"]), st.none() | st.integers() | hostile, max_size=2
    )
    return st.builds(lambda more, known: {**more, **known}, own, st.fixed_dictionaries(named))


def text_columns(**named):
    return st.builds(
        lambda more, known: {"note": more, **known}, sentences.map(str.strip).filter(bool), st.fixed_dictionaries(named)
    )


def keyed(records):
    return {str(number): record for number, record in enumerate(records)}


def lines(records):
    return "\n".join(json.dumps(record, ensure_ascii=False) for record in records)


def table(records, delimiter):
    def write(file):
        writer = csv.DictWriter(file, list(records[0]), delimiter=delimiter, quoting=csv.QUOTE_ALL)
        writer.writeheader()
        writer.writerows(records)

    return write


def of_coco(captions):
    annotations = []
    for number, (image, caption, foils) in enumerate(captions):
        annotations.append({"id": number, "image_id": image, "caption": caption, "foil": False})
        annotations += [
            {"foil_word": "x", **said, "id": number, "image_id": image, "caption": foil, "foil": True}
            for foil, said in foils
        ]
    return {"images": [{"id": image, "file_name": image} for image, *_ in captions], "annotations": annotations}


def blocks(records):
    return [{"video_id": video, "sentence": text, "note": note} for video, texts, note in records for text in texts]


VALSE = fields(
    dataset=st.sampled_from(["coco", "visual7w"]),
    image_file=VIDEOS,
    caption=sentences | st.lists(sentences, min_size=2, max_size=3),
    foil=sentences,
    classes=st.integers(0, 3),
    mturk=COUNTS,
    proficiency=st.none() | fields(caption=sentences, foil=sentences, human=COUNTS),
)
SOURCES = {
    "valse": ("json", st.lists(VALSE, min_size=1, max_size=3).map(keyed)),
    "vitatecs": (
        "jsonl",
        st.lists(
            fields(
                src_dataset=st.just("MSR-VTT"),
                video_name=VIDEOS,
                caption=sentences,
                counterfactual=sentences,
                aspect=st.just("direction"),
            ),
            min_size=1,
            max_size=12,
        ).map(lines),
    ),
    "sugarcrepe": (
        "json",
        st.lists(fields(filename=VIDEOS, caption=sentences, negative_caption=sentences), min_size=1, max_size=3).map(
            keyed
        ),
    ),
    "foil-coco": (
        "json",
        st.lists(
            st.tuples(
                VIDEOS, sentences, st.lists(st.tuples(sentences, fields(target_word=hostile)), min_size=1, max_size=3)
            ),
            min_size=1,
            max_size=3,
        ).map(of_coco),
    ),
    "msrvtt": (
        "csv",
        st.lists(st.fixed_dictionaries({"video_id": VIDEOS, "sentence": sentences}), min_size=1, max_size=12).map(
            lambda rows: table(rows, ",")
        ),
    ),
    "vatex": (
        "json",
        st.lists(
            st.fixed_dictionaries(
                {"videoID": VIDEOS, "enCap": st.lists(sentences, min_size=1, max_size=3, unique=True)}
            ),
            min_size=1,
            max_size=3,
            unique_by=lambda video: video["videoID"],
        ),
    ),
    "contrast": (
        "tsv",
        st.lists(
            text_columns(clip=VIDEOS, ending0=sentences, ending1=sentences, ending2=sentences, label=st.integers(0, 2)),
            min_size=1,
            max_size=12,
        ).map(lambda rows: table(rows, "\t")),
    ),
    "feint6k": (
        "csv",
        st.lists(st.tuples(VIDEOS, st.lists(sentences, min_size=6, max_size=6), sentences), min_size=1, max_size=3).map(
            lambda found: table(blocks(found), ",")
        ),
    ),
}


def written(path, content):
    if callable(content):
        with path.open("w", encoding="utf-8", newline="") as file:
            content(file)
    else:
        text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
        path.write_text(text, encoding="utf-8", newline="")
    return path


def read(slug, paths, **params):
    full = parse_params(IMPORTERS[slug], params)
    outcomes = [one for path in paths for one in load(IMPORTERS[slug]).read(path, params=full)]
    items = [comparable(one) for one in outcomes if isinstance(one, ItemRecord)]
    return sorted(items, key=lambda item: item.id), [one for one in outcomes if isinstance(one, BadRecord)]


def comparable(item):
    """Without where a file would lie here: a record that names its source is found by that elsewhere too."""
    return replace(item, video=replace(item.video, file=""))


@pytest.mark.parametrize("slug", SOURCES)
@FEW
@given(data=st.data())
def test_what_a_file_says_comes_out_of_the_file_written_of_it(tmp_path, slug, data):
    ending, source = SOURCES[slug]
    path = written(tmp_path / f"direction.{ending}", data.draw(source))
    items, bad = read(slug, [path])
    # A foil that repeats its caption is refused, here as everywhere.
    assume(not any(one.field == "foils" for one in bad))
    # A row that stands there twice is refused; all others are good.
    assert {one.field for one in bad} <= {"id", "record"}
    files = load(EXPORTERS[slug]).write(release_of(items), tmp_path / "out", params={})
    again, refused = read(slug, [file for file in files if file.name != "manifest.json"], subtest="direction")
    assert (again, refused) == (items, [])


def test_every_format_that_goes_both_ways_is_tried():
    # `winoground`: tests/evaluation/test_pairs_of_clips.py.
    elsewhere = {"jsonl", "vilma", "csv", "hf", "votes", "winoground"}
    assert set(SOURCES) | elsewhere == set(IMPORTERS) & set(EXPORTERS)


@FEW
@given(items=st.lists(VALSE, min_size=1, max_size=2), own=extras)
def test_records_made_here_go_through_valse_too(tmp_path, items, own):
    """What the format cannot say stands in an object of ours."""
    found, _bad = read("valse", [written(tmp_path / "direction.json", keyed(items))])
    found = [replace(item, id=f"made here {at}", test="t", extra=own) for at, item in enumerate(found)]
    files = load(EXPORTERS["valse"]).write(release_of(found), tmp_path / "out", params={})
    assert read("valse", [file for file in files if file.name != "manifest.json"])[0] == found


VOTES = st.lists(
    st.builds(
        ReleaseVote,
        item=sentences.map(str.strip).filter(bool),
        foil=st.none() | st.integers(0, 5),
        annotator=sentences.map(str.strip).filter(bool),
        choice=st.sampled_from(CHOICES),
        subtest=hostile,
        caption_first=st.none() | st.booleans(),
        seconds=st.none() | st.floats(0, 1e6),
    ),
    max_size=6,
    unique_by=lambda vote: (vote.item, vote.foil, vote.annotator),
)


@FEW
@given(votes=VOTES)
def test_votes_come_back_as_they_were(tmp_path, votes):
    release = replace(release_of([]), votes=tuple(votes))
    votes_exporter.write(release, tmp_path / "out", params={})
    found = list(votes_importer.read(tmp_path / "out" / "votes.csv", params={}))
    wanted = [VoteRecord(v.item, v.annotator, v.choice, v.foil, v.caption_first, v.seconds) for v in votes]
    assert sorted(found, key=repr) == sorted(wanted, key=repr)
