"""Files of strangers with another type in each of their fields: each is read, or refused in one line.

The fields come from true files, so a field that is added is tried as well.
"""

import hashlib
import json
import zipfile
from collections.abc import Callable, Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.urls import reverse

from evaluation.audit.audit import sources_of
from evaluation.audit.file_reader import Problems, read_all
from evaluation.releases.actions.freeze_release import freeze_release
from evaluation.score_files import harness_logs
from evaluation.score_files.score_readers import AUTO, read_given
from evaluation.score_files.scores import Notes
from foilworks.core.corpus.export_formats.parts.folder import pretty, self_hash
from foilworks.core.corpus.import_formats.parsing.table_recipe import parse_recipe, shipped
from foilworks.core.corpus.import_formats.parsing.text_files import Source
from foilworks.core.text.errors import ActionableError
from foilworks.site.backup import folder as backup
from foilworks.site.exports.verify import verify
from tests import factories
from tests.evaluation.test_harness_logs import AGGREGATE, CHOICE, INSPECT, LIKELIHOOD, RECORDS, SAMPLES

pytestmark = pytest.mark.django_db
VALUES = (None, 5, -1.5, True, "x", [], [None], {}, {"x": []}, [[]])
MAX_WORDS = 1000


def spoiled(document: Any) -> Iterator[Any]:
    """The document with one field of another type, for each field and type."""
    for path in paths_of(document):
        for value in VALUES:
            yield with_value(document, path, value)
    yield from VALUES


def paths_of(document: Any, path: tuple = ()) -> Iterator[tuple]:
    pairs = document.items() if isinstance(document, dict) else ()
    for key, value in enumerate(document[:1]) if isinstance(document, list) else pairs:
        yield (*path, key)
        yield from paths_of(value, (*path, key))


def with_value(document: Any, path: tuple, value: Any) -> Any:
    changed = inner = deepcopy(document)
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return changed


def check(read: Callable[..., Any], *arguments: Any, **named: Any) -> None:
    words = ""
    try:
        read(*arguments, **named)
    except ActionableError as error:
        words = str(error)
    assert "\n" not in words
    assert len(words) < MAX_WORDS


def items_of(path: Path) -> list[Any]:
    return [list(read_all([source], Problems())) for source in sources_of(Source(path))]


@pytest.fixture
def export(tmp_path) -> Path:
    subtest = factories.make_subtest(factories.make_project(slug="doors", blind_bar=1.0))
    video = factories.make_video(subtest.project, key="a", source_id="a", source_dataset="own")
    caption = factories.make_caption(video, "she opens a door")
    factories.make_item(subtest, caption, ("he opens a door",), key="a", state="valid")
    release = freeze_release(None, subtest.project)
    out = tmp_path / "out"
    call_command("export", "foilworks", "--project", "doors", "--release", str(release.pk), "--out", str(out))
    return out


def packed(path: Path, **members: str) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in members.items():
            archive.writestr(name.replace("__", "/").replace("_", "."), text)
    return path


def test_manifests_of_archives(tmp_path, client):
    manifest = {"made_by": "foilworks", "format": "jsonl", "files": {"a.jsonl": {"sha256": "", "bytes": 1}}}
    manifest |= {"counts": {"items": 1}, "withheld": [{"id": "a"}], "layout_version": 4, "content_hash": ""}
    for document in spoiled(manifest):
        check(items_of, packed(tmp_path / "a.zip", manifest_json=json.dumps(document), items_jsonl="{}"))
    forged = json.dumps(manifest | {"files": 5})
    data = packed(tmp_path / "a.zip", manifest_json=forged, items_jsonl="{}").read_bytes()
    assert client.post(reverse("audit"), {"file": SimpleUploadedFile("a.zip", data)}).status_code == 422


@pytest.mark.full
def test_manifests_of_exports(export):
    manifest = json.loads((export / "manifest.json").read_text())
    for document in spoiled(manifest):
        if isinstance(document, dict):
            document["manifest_sha256"] = self_hash(document)
        (export / "manifest.json").write_text(pretty(document))
        check(verify, export)


@pytest.mark.full
def test_items_of_exports(export):
    (line,) = (export / "items.jsonl").read_text().splitlines()
    manifest = json.loads((export / "manifest.json").read_text())
    for document in spoiled(json.loads(line)):
        data = (json.dumps(document) + "\n").encode()
        (export / "items.jsonl").write_bytes(data)
        manifest["files"]["items.jsonl"]["sha256"] = hashlib.sha256(data).hexdigest()
        (export / "manifest.json").write_text(pretty(manifest | {"manifest_sha256": self_hash(manifest)}))
        check(verify, export)
        check(items_of, export)


@pytest.mark.parametrize("log", [CHOICE, LIKELIHOOD, SAMPLES])
def test_samples_of_harnesses(log, tmp_path):
    first, *more = log.read_text().splitlines()
    path = tmp_path / "run_samples_x.jsonl"
    for document in spoiled(json.loads(first)):
        path.write_text("\n".join([json.dumps(document), *more]))
        check(read_given, path, AUTO, RECORDS, notes=Notes())


def test_aggregates_of_every_eval_ever(tmp_path):
    (tmp_path / SAMPLES.name).write_bytes(SAMPLES.read_bytes())
    path = tmp_path / AGGREGATE.name
    aggregate = json.loads(AGGREGATE.read_text())
    names = ("evaluation_id", "eval_library", "detailed_evaluation_results")
    for document in spoiled({name: aggregate[name] for name in names}):
        path.write_text(json.dumps(document))
        check(read_given, path, AUTO, RECORDS, notes=Notes())


def test_logs_of_inspect(tmp_path):
    with zipfile.ZipFile(INSPECT) as archive:
        names = ["header.json", next(name for name in archive.namelist() if name.startswith("samples/"))]
        header, sample = (json.loads(harness_logs._member(INSPECT, archive, name)) for name in names)
    # What is read of the two, whose other fields are hundreds.
    header = {name: header[name] for name in ("status", "eval")}
    header["eval"] = {name: header["eval"].get(name) for name in ("packages", "model", "task", "metadata")}
    read_fields = ("id", "target", "choices", "output", "scores", "messages")
    sample = {name: sample[name] for name in read_fields}
    documents = [(one, sample) for one in spoiled(header)] + [(header, one) for one in spoiled(sample)]
    for head, body in documents:
        path = packed(tmp_path / "log.eval", header_json=json.dumps(head), samples__a_json=json.dumps(body))
        check(read_given, path, AUTO, RECORDS, notes=Notes())


def test_manifests_of_backups(tmp_path):
    whole = {"kind": backup.KIND, "database": "sqlite", "migrations": ["a.0001"], "media": False, "created_at": ""}
    whole["files"] = {"a": {"sha256": "0", "bytes": 1}}
    for document in spoiled(whole):
        (tmp_path / backup.MANIFEST).write_text(json.dumps(document))
        check(backup.checked_manifest, tmp_path, backup._silent)


@pytest.mark.parametrize("name", sorted(shipped())[:3])
def test_recipes(name):
    for document in spoiled(shipped()[name]):
        check(parse_recipe, document)
