"""Formats that are tables: csv, contrast, feint6k, and the data set folder with its Croissant metadata."""

import json
import subprocess
import sys
from dataclasses import replace

import pytest
from datasets import load_dataset
from hypothesis import HealthCheck, example, given, settings

from foilworks.core.corpus.errors import CorpusError
from foilworks.core.corpus.export_formats import (
    contrast,
    csv_rows,
    feint6k,
    foil_coco,
    hf,
    msrvtt,
    sugarcrepe,
    vatex,
    vitatecs,
)
from foilworks.core.corpus.import_formats import csv_rows as csv_importer
from foilworks.core.corpus.import_formats import hf as hf_importer
from foilworks.core.corpus.import_formats.choice_sets import CONTRAST, FEINT6K
from foilworks.core.corpus.import_formats.registry import IMPORTERS
from foilworks.core.corpus.records import ItemRecord, PairRecord, VideoRecord, VoteCounts
from foilworks.core.text.registry import load, parse_params
from tests.corpus.releases import item_lists, release_of
from tests.corpus.test_exporters import ITEM, items_of, read_back

ROUND = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
FULL = ItemRecord(
    id="=direction:b",
    subtest="direction",
    test="-motion",
    video=VideoRecord("k", "b.mp4", start_time=1.5, end_time=3.0, source_dataset="d", source_id="@b", split="test"),
    caption="+a ball rolls left.",
    foils=("'=a ball rolls right.", "a ball\nflies,\tleft"),
    proficiency=PairRecord("a ball is seen.", ("a cube is seen.",), VoteCounts(1, 0, 0), {"a": [1]}),
    votes=VoteCounts(2, 1, 0),
    extra={"n": 1, "nested": {"x": None}},
    facts={"count": 3},
)


@ROUND
@given(items=item_lists)
@example(items=[ITEM, FULL])
def test_csv_read_back_is_what_was_written(tmp_path, items):
    csv_rows.write(release_of(items), tmp_path / "out", params={})
    assert read_back(csv_importer, [tmp_path / "out" / "records.csv"]) == items_of(items)


def test_no_cell_of_a_csv_is_run_by_a_spreadsheet(tmp_path):
    csv_rows.write(release_of([FULL]), tmp_path / "out", params={})
    text = (tmp_path / "out" / "records.csv").read_bytes().decode()
    assert text.split("\r\n")[1].startswith("'=direction:b,")
    assert not any(cell.startswith(("=", "+", "@")) for cell in text.split("\r\n")[1].split(","))


@pytest.mark.full
@ROUND
@given(items=item_lists)
@example(items=[ITEM, FULL])
def test_a_data_set_folder_read_back_is_what_was_written(tmp_path, items):
    hf.write(release_of(items), tmp_path / "out", params={})
    assert read_back(hf_importer, [tmp_path / "out"]) == items_of(items)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    out = tmp_path_factory.mktemp("hf") / "out"
    hf.write(release_of([ITEM, FULL, replace(ITEM, id="count:a", subtest="count: easy")]), out, params={})
    return out


def test_the_datasets_library_loads_it_by_its_card(folder, tmp_path):
    rows = load_dataset(str(folder), "direction", split="test", cache_dir=str(tmp_path))
    assert rows["id"] == ["=direction:b", "direction:a"]
    assert rows[0]["foils"] == list(FULL.foils)
    assert rows[0]["proficiency"]["votes"] == {"caption": 1, "foil": 0, "other": 0}
    assert (rows[0]["start_time"], rows[1]["start_time"]) == (1.5, None)
    assert len(load_dataset(str(folder), "count-easy", split="test", cache_dir=str(tmp_path))) == 1


def test_the_loader_that_the_card_prints_runs(folder, tmp_path, monkeypatch):
    code = (folder / "README.md").read_text(encoding="utf-8").split("```python\n")[1].split("```")[0]
    monkeypatch.setenv("HF_DATASETS_CACHE", str(tmp_path))
    names: dict = {}
    exec(code.replace("path/to/this/folder", str(folder)), names)
    assert len(names["items"]) > 0


# In a process of its own: its logging library closes the stream that it found, which here is pytest's.
READ_CROISSANT = """
import json, sys
import mlcroissant
found = mlcroissant.Dataset(jsonld=sys.argv[1])
ids = [record["direction/id"].decode() for record in found.records(record_set="direction")]
print(json.dumps({"errors": sorted(map(str, found.metadata.issues.errors)), "ids": ids}))
"""


@pytest.mark.full
def test_croissant_is_valid_and_reads_the_records(folder):
    command = [sys.executable, "-W", "ignore", "-c", READ_CROISSANT, str(folder / "croissant.json")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {"errors": [], "ids": ["=direction:b", "direction:a"]}


def test_a_changed_file_is_no_longer_the_one_that_croissant_names(folder, tmp_path):
    document = json.loads((folder / "croissant.json").read_text(encoding="utf-8"))
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    for file in document["distribution"]:
        assert manifest["files"][file["contentUrl"]]["sha256"] == file["sha256"]


class TestContrast:
    def table(self, tmp_path, text):
        path = tmp_path / "mc.tsv"
        path.write_text(text, encoding="utf-8")
        return items_of(CONTRAST.read(path, params={}))

    def test_imported_rows_are_exported_unchanged(self, tmp_path):
        text = (
            "clip\tending0\tending1\tending2\tlabel\tc_label\tnote\n"
            "video1\ta man runs\ta man sits\ta man eats\t1\t0\tx\n"
            "video2\ta cat\ta dog\ta cow\t0\t2\ty\n"
        )
        items = self.table(tmp_path, text)
        contrast.write(release_of(items), tmp_path / "out", params={})
        assert (tmp_path / "out" / "mc.tsv").read_text(encoding="utf-8") == text

    def test_the_place_of_the_caption_is_drawn_and_stays(self, tmp_path):
        items = [replace(ITEM, id=f"direction:{i}", foils=("b", "c", "d")) for i in range(200)]
        contrast.write(release_of(items), tmp_path / "one", params={})
        contrast.write(release_of(items), tmp_path / "two", params={})
        one, two = ((tmp_path / name / "direction.tsv").read_text(encoding="utf-8") for name in ("one", "two"))
        assert one == two
        places = [line.rsplit("\t", 1)[1] for line in one.splitlines()[1:]]
        assert all(30 < places.count(str(place)) < 70 for place in range(4))

    def test_items_of_unequal_size_are_refused_by_name(self, tmp_path):
        items = [ITEM, replace(ITEM, id="direction:z", foils=("b", "c"))]
        with pytest.raises(CorpusError) as caught:
            contrast.write(release_of(items), tmp_path / "out", params={})
        assert str(caught.value).startswith("direction: direction:a has 1 foils and direction:z has 2, but the format")
        assert not (tmp_path / "out").exists()


class TestFeint6k:
    def test_imported_rows_are_exported_unchanged(self, tmp_path):
        text = "video_id,sentence\n" + "".join(f'v{n},"text {n}, {i}"\n' for n in range(2) for i in range(6))
        path = tmp_path / "feint.csv"
        path.write_text(text, encoding="utf-8")
        items = items_of(FEINT6K.read(path, params={}))
        feint6k.write(release_of(items), tmp_path / "out", params={})
        assert (tmp_path / "out" / "feint.csv").read_text(encoding="utf-8") == text

    def test_items_that_do_not_fit_are_named_in_the_manifest(self, tmp_path):
        six = replace(ITEM, id="direction:six", foils=("b", "c", "d", "e", "f"))
        feint6k.write(release_of([ITEM, six]), tmp_path / "out", params={})
        manifest = json.loads((tmp_path / "out" / "manifest.json").read_text(encoding="utf-8"))
        assert (manifest["left_out"], manifest["counts"]) == (["direction:a"], {"items": 1})
        with pytest.raises(CorpusError, match="no released item has 5 foils"):
            feint6k.write(release_of([ITEM]), tmp_path / "none", params={})


@pytest.mark.parametrize(("exporter", "slug"), [(sugarcrepe, "sugarcrepe"), (foil_coco, "foil-coco")])
def test_ids_with_and_without_their_subtest_are_records_of_their_own(tmp_path, exporter, slug):
    items = [replace(ITEM, id=id_, caption=f"caption {id_}") for id_ in ("1", "direction:1")]
    exporter.write(release_of(items), tmp_path / "out", params={})
    entry = IMPORTERS[slug]
    path = tmp_path / "out" / "direction.json"
    read = items_of(load(entry).read(path, params=parse_params(entry, {})))
    assert {item.id: item.caption for item in read} == {
        "direction:1": "caption direction:1",
        "direction:1~": "caption 1",
    }


PARTS = [
    replace(ITEM, id=f"direction:{n}", caption=caption, video=replace(ITEM.video, **{"source_id": "q", **where}))
    for n, (caption, where) in enumerate(
        {
            "he sits.": {"key": "coin/q@10-20", "start_time": 10.0, "end_time": 20.0},
            "he stands.": {"key": "coin/q@30-40", "start_time": 30.0, "end_time": 40.0},
            "he lies.": {"key": "coin/q"},
            "he falls.": {"key": "vatex/q"},
            "he runs.": {"key": "vatex/r", "source_id": "r"},
        }.items()
    )
]


def test_clips_of_one_film_are_videos_of_their_own(tmp_path):
    """As those of two data sets are that give one name to a video."""
    names = ["coin/q@10-20", "coin/q@30-40", "coin/q", "vatex/q", "r"]
    vatex.write(release_of(PARTS), tmp_path / "vatex", params={})
    videos = json.loads((tmp_path / "vatex/captions.json").read_text(encoding="utf-8"))
    assert videos == [{"videoID": name, "enCap": [item.caption]} for name, item in zip(names, PARTS, strict=True)]
    msrvtt.write(release_of(PARTS), tmp_path / "msrvtt", params={})
    rows = (tmp_path / "msrvtt/captions.csv").read_text(encoding="utf-8").splitlines()[1:]
    assert [row.partition(",")[0] for row in rows] == names
    vitatecs.write(release_of(PARTS), tmp_path / "vitatecs", params={})
    lines = (tmp_path / "vitatecs/direction.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["video_name"] for line in lines] == [f"{name}.mp4" for name in [*names[:2], "q", "q", "r"]]


class TestBadFolders:
    def test_an_invalid_data_set_folder_is_named(self, tmp_path):
        with pytest.raises(CorpusError, match="has no Parquet file"):
            list(hf_importer.read(tmp_path, params={}))
        with pytest.raises(CorpusError, match="there is no such folder"):
            list(hf_importer.read(tmp_path / "none", params={}))
        (tmp_path / "x.parquet").write_bytes(b"PAR1 no more")
        with pytest.raises(CorpusError, match="is not a readable Parquet file"):
            list(hf_importer.read(tmp_path, params={}))
