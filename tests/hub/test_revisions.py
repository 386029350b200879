"""Which weights a name stands for, told without loading them."""

import shutil

from hub import revisions
from hub.revisions import file_hash, fingerprint
from hub.table import CLASSIFIER
from tests.hub import folders


def test_a_folder_is_known_by_its_bytes_wherever_it_lies(tmp_path, monkeypatch):
    def loads(*args, **options):
        raise AssertionError("a model was loaded to tell its name")

    one = folders.classifier(tmp_path / "one")
    monkeypatch.setattr(revisions, "open_helper", loads)
    first = fingerprint(str(one), CLASSIFIER)
    shutil.copytree(one, tmp_path / "copy")
    assert fingerprint(str(tmp_path / "copy"), CLASSIFIER) == first
    assert fingerprint(f"classifier:{one}", CLASSIFIER) == first
    weights = tmp_path / "copy/model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1] + b"\x01")
    assert fingerprint(str(tmp_path / "copy"), CLASSIFIER) != first


def test_fakes_and_files_have_fingerprints_too(tmp_path):
    assert fingerprint("fake-classifier:", CLASSIFIER) == "fake-classifier:@"
    vectors = tmp_path / "vectors.txt"
    vectors.write_text("a 1 2\n")
    first = file_hash(str(vectors))
    vectors.write_text("a 1 3\n")
    assert file_hash(str(vectors)) != first
    assert file_hash(str(tmp_path / "none")) == ""


def test_a_hub_id_is_known_by_the_commit_in_the_cache(tmp_path, monkeypatch):
    snapshot = tmp_path / "snapshots" / ("f" * 40) / "config.json"
    opened = []
    found = []
    monkeypatch.setattr(revisions, "try_to_load_from_cache", lambda *args, **options: found[-1] if found else None)
    monkeypatch.setattr(
        revisions, "open_helper", lambda *args, **options: opened.append(args) or found.append(str(snapshot))
    )
    assert fingerprint("some/model", CLASSIFIER) == f"classifier:some/model@{'f' * 16}"
    assert opened == [("some/model", CLASSIFIER)]
    assert fingerprint("some/model", CLASSIFIER) == f"classifier:some/model@{'f' * 16}"
    assert len(opened) == 1
