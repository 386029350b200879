"""Records of a data set of the Hugging Face Hub: by page and command, with revision and licence."""

import json
from functools import partial
from types import SimpleNamespace

import huggingface_hub
import pytest
from django.core.management import call_command
from django.test import Client, override_settings
from django.urls import reverse
from huggingface_hub import constants

from foilworks.core.corpus.models import Item
from foilworks.core.jobs.runner import run_now
from foilworks.core.projects.models import Role
from foilworks.site.imports.models import Import
from tests.factories import make_member, make_project

pytestmark = pytest.mark.django_db
SHA = "0123456789abcdef0123456789abcdef01234567"
ROWS = [
    {"id": str(n), "clip": f"{n}.mp4", "caption": f"A cook cuts carrot {n}.", "foil": f"A cook peels carrot {n}."}
    for n in range(6)
]


@pytest.fixture(autouse=True)
def folders(settings, tmp_path):
    settings.UPLOAD_ROOT = tmp_path / "uploads"


@pytest.fixture
def client() -> Client:
    client = Client()
    client.force_login(make_member(make_project(slug="dots"), Role.RESEARCHER))
    return client


@pytest.fixture
def hub_cache(monkeypatch, tmp_path):
    """The client of the hub, with a data set of two files in its cache."""
    cache = tmp_path / "cache"
    for name, rows in (("data/one.jsonl", ROWS[:3]), ("data/two.jsonl", ROWS[3:])):
        path = cache / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")

    def info(_self, _name, *, revision, files_metadata):
        names = ("README.md", "data/one.jsonl", "data/two.jsonl")
        rows = [SimpleNamespace(rfilename=name, size=2 * 1024**2) for name in names]
        return SimpleNamespace(sha=SHA, siblings=rows, card_data={"license": "cc-by-4.0"})

    monkeypatch.setattr(huggingface_hub.HfApi, "dataset_info", info)
    monkeypatch.setattr(huggingface_hub, "snapshot_download", lambda *_args, **_options: str(cache))


def request(client: Client, address: str, **fields: str) -> Import:
    answer = client.post(reverse("imports:new_import", args=["dots"]), {"format": "auto", "address": address, **fields})
    assert answer.status_code == 302, answer.content.decode()
    upload = Import.objects.get()
    run_now(upload.job)
    upload.refresh_from_db()
    return upload


def test_one_file_is_mapped_and_imported_with_its_revision_and_licence(client, hub_cache):
    upload = request(client, "hf://datasets/lab/doors@main/data/one.jsonl")
    assert (upload.state, upload.file_name) == ("mapping", "one.jsonl")
    columns = reverse("imports:import_columns", args=["dots", upload.pk])
    page = client.get(columns)
    assert f"hf://datasets/lab/doors@{SHA}/data/one.jsonl" in page.content.decode()
    assert "cc-by-4.0" in page.content.decode()
    form = page.context["form"]
    client.post(columns, {**{name: form[name].value() or "" for name in form.fields}, "exploded": "", "use": "1"})
    upload.refresh_from_db()
    run_now(upload.job)
    client.post(reverse("imports:confirm_import", args=["dots", upload.pk]))
    upload.refresh_from_db()
    run_now(upload.job)
    assert Item.objects.count() == 3


def test_the_files_of_a_folder_are_one_import(client, hub_cache):
    upload = request(client, "hf://datasets/lab/doors")
    assert (upload.state, upload.preview["new"], upload.file_name) == ("ready", 6, "doors/")
    assert upload.address == f"hf://datasets/lab/doors@{SHA}"


def test_a_data_set_over_the_limit_is_not_downloaded(client, hub_cache, monkeypatch):
    monkeypatch.setattr(huggingface_hub, "snapshot_download", None)
    with override_settings(UPLOAD_MAX_BYTES=3 * 1024**2):
        upload = request(client, "hf://datasets/lab/doors")
    assert "has 4 MB, more than the limit of 3 MB" in upload.preview["problem"]


def test_without_a_network_the_page_says_so(client, monkeypatch):
    """No fake: nothing listens at this address."""
    monkeypatch.setattr(huggingface_hub, "HfApi", partial(huggingface_hub.HfApi, endpoint="http://127.0.0.1:9"))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    upload = request(client, "hf://datasets/lab/doors")
    page = client.get(reverse("imports:import", args=["dots", upload.pk])).content.decode()
    assert "cannot be downloaded" in page
    assert "check name, revision and network" in page


@pytest.mark.parametrize("address", ["https://huggingface.co/datasets/lab/doors", "hf://models/a/b", "hf://datasets/a"])
def test_another_address_is_refused(client, address):
    answer = client.post(reverse("imports:new_import", args=["dots"]), {"format": "auto", "address": address})
    assert answer.status_code == 422
    assert "Write the address as hf://datasets/OWNER/NAME@REVISION/PATH." in answer.content.decode()


def test_the_command_imports_an_address(hub_cache, capsys):
    call_command("import", "table", "hf://datasets/lab/doors/data/two.jsonl", project="new", create=True)
    printed = capsys.readouterr()
    assert f"revision {SHA}, licence cc-by-4.0" in printed.out + printed.err
    assert Item.objects.filter(video__project__slug="new").count() == 3
