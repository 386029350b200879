"""Which weights a name stands for, told without loading them."""

import shutil

import pytest

from foilworks.core.hub import revisions
from foilworks.core.hub.catalogue.registry import CLASSIFIER
from foilworks.core.hub.errors import HubError
from foilworks.core.hub.revisions import file_hash, fingerprint
from tests.hub import folders


def test_the_fingerprint_of_a_folder_depends_on_its_bytes_and_not_its_path(tmp_path, monkeypatch):
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


@pytest.mark.parametrize("name", ["tuned", "./tuned", "tuned@2"])
def test_a_folder_has_one_fingerprint_for_every_spelling_of_its_path(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    absolute = folders.classifier(tmp_path / name)
    assert fingerprint(name, CLASSIFIER) == fingerprint(str(absolute), CLASSIFIER)


def test_the_error_says_that_a_folder_is_missing(tmp_path):
    with pytest.raises(HubError, match="there is no such model folder"):
        fingerprint(str(tmp_path / "none"), CLASSIFIER)


def test_fakes_and_files_have_fingerprints_too(tmp_path):
    assert fingerprint("fake-classifier:", CLASSIFIER) == "fake-classifier:@"
    vectors = tmp_path / "vectors.txt"
    vectors.write_text("a 1 2\n")
    first = file_hash(str(vectors))
    vectors.write_text("a 1 3\n")
    assert file_hash(str(vectors)) != first
    assert file_hash(str(tmp_path / "none")) == ""


@pytest.mark.parametrize(
    ("name", "hub_id", "revision"),
    [
        ("some/model", "some/model", None),
        ("some/model@v1", "some/model", "v1"),
        ("gpt2", "gpt2", None),
        ("gpt2@v1", "gpt2", "v1"),
    ],
)
def test_the_fingerprint_of_a_hub_id_is_the_commit_in_the_cache(tmp_path, monkeypatch, name, hub_id, revision):
    snapshot = tmp_path / "snapshots" / ("f" * 40) / "config.json"
    opened = []
    asked = []

    def cached(*place, **options):
        asked.append((place[0], options["revision"]))
        return str(snapshot) if opened else None

    monkeypatch.setattr(revisions, "try_to_load_from_cache", cached)
    monkeypatch.setattr(revisions, "open_helper", lambda *args, **options: opened.append(args))
    assert fingerprint(name, CLASSIFIER) == f"classifier:{hub_id}@{'f' * 16}"
    assert opened == [(name, CLASSIFIER)]
    assert fingerprint(name, CLASSIFIER) == f"classifier:{hub_id}@{'f' * 16}"
    assert len(opened) == 1
    assert set(asked) == {(hub_id, revision)}
