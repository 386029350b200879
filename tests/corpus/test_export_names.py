"""Names of exported files: those that the publishers' own code opens, and none that some disk takes for another's."""

import json
from dataclasses import replace

import pytest

from foilworks.core.corpus.export_formats import csv_rows, foilworks, hf, sugarcrepe, valse, vilma, vitatecs
from foilworks.core.corpus.export_formats.parts.folder import safe_name
from foilworks.core.corpus.export_formats.parts.manifest import MANIFEST
from foilworks.core.corpus.import_formats import csv_rows as csv_importer
from tests.corpus.releases import release_of
from tests.corpus.test_exporters import ITEM, items_of, read_back, score

FORMATS = {"sugarcrepe": sugarcrepe, "vitatecs": vitatecs, "vilma": vilma, "valse": valse, "hf": hf}
BOM = b"\xef\xbb\xbf"


def named(*subtests):
    return [replace(ITEM, id=f"i{n}", subtest=name) for n, name in enumerate(subtests)]


@pytest.mark.parametrize("slug", FORMATS)
def test_subtests_that_differ_by_case_alone_have_files_on_every_disk(tmp_path, slug):
    subtests = ["SWAP_att", "swap_att", "Swap_Att", "manifest", "Manifest"]
    FORMATS[slug].write(release_of(named(*subtests)), tmp_path / "out", params={})
    names = [path.name for path in (tmp_path / "out").rglob("*") if path.is_file()]
    assert len({name.casefold() for name in names}) == len(names)
    holding = [path for path in (tmp_path / "out").rglob("*") if path.stem.lower().startswith(("swap", "manifest"))]
    assert len([path for path in holding if path.name != MANIFEST]) == len(subtests)


def test_scores_of_models_that_differ_by_case_alone_have_files_of_their_own(tmp_path):
    scores = tuple(score(model) for model in ("CLIP", "clip", "Clip"))
    foilworks.write(release_of([ITEM], scores=scores), tmp_path / "out", params={})
    names = sorted(path.name.casefold() for path in (tmp_path / "out/scores").iterdir())
    assert len(set(names)) == 3
    models = {json.loads(path.read_text(encoding="utf-8"))["model"] for path in (tmp_path / "out/scores").iterdir()}
    assert models == {"CLIP", "clip", "Clip"}


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("swap_att", "swap_att"),
        ("add obj/2", "add-obj-2"),
        ("été", "ete"),
        ("_hidden", "_hidden"),
        (".hidden", "hidden"),
        ("  ", "unnamed"),
    ],
)
def test_a_name_stays_what_its_publisher_calls_it(text, name):
    assert safe_name(text) == name


def test_letters_that_ascii_lacks_tell_names_apart():
    one, other = safe_name("日本"), safe_name("中国")
    assert one.isascii()
    assert one != other
    assert safe_name("été 日本").startswith("ete-")
    assert len(safe_name("日" * 300 + "a" * 300)) <= 80


def test_vitatecs_names_the_file_of_a_video_that_was_not_imported_from_it(tmp_path):
    videos = [
        replace(ITEM.video, source_id="q", file=""),
        replace(ITEM.video, source_id="r", file="own/r.webm"),
        replace(ITEM.video, source_id="s.avi"),
    ]
    items = [replace(ITEM, id=f"i{n}", video=video) for n, video in enumerate(videos)]
    vitatecs.write(release_of(items), tmp_path / "out", params={})
    lines = (tmp_path / "out/direction.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["video_name"] for line in lines] == ["q.mp4", "r.webm", "s.avi"]


def test_a_csv_begins_with_a_byte_order_mark_on_request_alone(tmp_path):
    plain, marked = tmp_path / "plain", tmp_path / "marked"
    csv_rows.write(release_of([ITEM]), plain, params={"bom": False})
    csv_rows.write(release_of([ITEM]), marked, params={"bom": True})
    assert (marked / "records.csv").read_bytes() == BOM + (plain / "records.csv").read_bytes()
    assert read_back(csv_importer, [marked / "records.csv"]) == items_of([ITEM])
