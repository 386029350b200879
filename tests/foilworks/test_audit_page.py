"""The page that audits a visitor's file: bounded in size, number, time and memory; it stores nothing."""

import io
import json
import zipfile
from pathlib import Path

import pytest
from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client, override_settings
from django.urls import reverse

from foilworks.core.media.child import ChildLimits
from foilworks.core.projects.limits.rate_limits import AUDITS
from foilworks.site.views import audit as page
from tests.evaluation.test_audit import planted

pytestmark = pytest.mark.django_db
ODD_TABLE = """\ufeffFilename;What happens;Wrong version;Wrong version 2;Notes;Length (s)
ball rolls.mp4;A red ball rolls to the right.;A red ball rolls to the left.;A blue ball rolls to the right.;ok;2,5
phone-portrait.mov;A green box moves up.;A green box moves down.;;portrait;2,5
grow.mkv;A purple square grows.;A purple square shrinks.;A purple circle grows.;check;2,5
"""
TAG = "<img src=x onerror=alert(1)>"


@pytest.fixture
def send(client: Client):
    def post(content: str, name: str = "texts.jsonl", **fields):
        file = SimpleUploadedFile(name, content.encode("utf-8", "surrogatepass"))
        return client.post(reverse("audit"), {"file": file, **fields})

    return post


def lines(rows) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def stored() -> list[Path]:
    return list(Path(settings.UPLOAD_ROOT).glob("audit-*"))


def test_a_visitor_audits_a_file_and_nothing_of_it_is_stored(send):
    answer = send(lines([{**row, "subtest": f"{row['subtest']} {TAG}"} for row in planted()]))
    body = answer.content.decode()
    assert answer.status_code == 200
    assert "unicorn" in body
    assert "of the pairs are answered without the video (95" in body
    assert "Items answered most surely" in body
    assert TAG not in body
    assert not stored()


def test_a_format_can_be_chosen(send):
    answer = send('{"0": {"filename": "a.jpg", "caption": "a", "negative_caption": "b"}}', form="sugarcrepe")
    assert "There are fewer than five videos or items to learn from." in answer.content.decode()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "empty"),
        ("[" * 100_000, "parsed"),
        ('{"a": 1}', "no record could be read"),
        ("\ud800", "UTF-8"),
        (lines([{"caption": "a", "foil": f"b {n}"} for n in range(20)]), "foilworks audit FILE"),
    ],
)
def test_a_file_that_cannot_be_audited_is_answered_in_words(send, content, said):
    with override_settings(AUDIT_MAX_PAIRS=10):
        answer = send(content, "odd.json")
    assert answer.status_code == 422
    assert said in answer.content.decode()
    assert "uploads" not in answer.content.decode()
    assert not stored()


def test_a_file_over_the_size_limit_is_refused(send):
    with override_settings(AUDIT_MAX_BYTES=100):
        answer = send("x" * 200)
    assert answer.status_code == 422
    assert "larger than" in answer.content.decode()


def test_a_body_far_over_the_limit_is_refused_unread_in_words_for_this_page(send):
    with override_settings(AUDIT_MAX_BYTES=2 * 1024**2):
        answer = send("x" * (4 * 1024**2))
    assert answer.status_code == 413
    assert "larger than 2 MB. Run `foilworks audit FILE`" in answer.content.decode()


def test_columns_of_other_names_are_chosen_on_the_page(send):
    table = "zeta\typs\n" + "".join(f"a dog runs {n}\ta cat sleeps on mats {n}\n" for n in range(40))
    asked = send(table, "t.tsv")
    assert asked.status_code == 422
    assert 'name="columns_of" value="t.tsv"' in asked.content.decode()
    assert "--column" not in asked.content.decode()
    menus = {"columns_of": "t.tsv", "caption": "zeta"}
    unfinished = send(table, "t.tsv", **menus)
    assert unfinished.status_code == 422
    assert "Choose the caption and its foils" in unfinished.content.decode()
    answer = send(table, "t.tsv", **menus, texts="yps")
    assert answer.status_code == 200
    assert answer.context["audit"]["pairs"] == 40
    assert answer.context["columns"] == {"caption": "zeta", "foils": "yps"}
    assert not stored()


def test_menus_of_another_file_count_for_nothing(send):
    answer = send(lines(planted()), columns_of="t.tsv", caption="zeta", texts="yps")
    assert answer.status_code == 200
    assert "table_form" not in answer.context


def test_a_true_text_can_be_chosen_among_twins(send):
    table = "a,b\n" + "".join(f"a dog runs up hill {n},a dog runs down hill {n}\n" for n in range(20))
    asked = send(table, "t.csv")
    assert "Which text is true?" in asked.content.decode()
    form = send(table, "t.csv", caption_is="b").context["table_form"]
    assert form["caption"].value() == "b"
    assert form["texts"].value() == ["a"]


def test_columns_can_be_chosen_after_an_audit(send):
    answer = send(lines(planted()), choose_columns="1")
    assert "audit" not in answer.context
    assert answer.context["table_form"]["caption"].value() == "caption"


def test_several_files_and_archives_are_one_benchmark(client):
    rows = planted()
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as zipped:
        zipped.writestr("inner/second.jsonl", lines(rows[100:]))
    files = [
        SimpleUploadedFile("first.jsonl", lines(rows[:100]).encode()),
        SimpleUploadedFile("more.zip", archive.getvalue()),
    ]
    answer = client.post(reverse("audit"), {"file": files})
    assert answer.status_code == 200
    assert answer.context["audit"]["items"] == len(rows)


def test_an_archive_of_too_much_text_is_refused_unpacked(client):
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as zipped:
        zipped.writestr("large.jsonl", " " * 2 * 1024**2)
    with override_settings(AUDIT_MAX_BYTES=64 * 1024):
        answer = client.post(reverse("audit"), {"file": SimpleUploadedFile("a.zip", archive.getvalue())})
    assert answer.status_code == 422
    assert "Upload it in parts" in answer.content.decode()


def test_an_odd_table_of_a_spreadsheet_is_audited_as_it_is(send):
    answer = send(ODD_TABLE, "odd.csv")
    assert answer.status_code == 200
    expected = {"caption": "What happens", "foils": "Wrong version+Wrong version 2", "video": "Filename"}
    assert answer.context["columns"] == expected
    assert answer.context["audit"]["pairs"] == 5


def test_a_file_that_needs_too_much_memory_ends_with_its_process(send, monkeypatch):
    # A process that serves already has its libraries in memory, so that only the file counts.
    send(lines(planted()[:30]))
    monkeypatch.setattr(page, "LIMITS", ChildLimits(memory=2 * 1024**2, seconds=10))
    rows = [{"caption": f"{'a long text ' * 150}{number}", "foil": f"b {number}"} for number in range(2500)]
    answer = send(json.dumps(rows), "large.json")
    assert answer.status_code == 422
    assert "too much time or memory" in answer.content.decode()
    assert not stored()


def test_one_file_at_a_time(send):
    assert page._running.acquire(blocking=False)
    try:
        assert "Another file is being audited" in send(lines(planted())).content.decode()
    finally:
        page._running.release()


def test_a_network_has_a_limit(send):
    for _ in range(AUDITS.most):
        send("")
    refused = send("")
    assert refused.status_code == 429
    assert "foilworks audit FILE" in refused.content.decode()


def test_skipped_records_are_named_by_their_file_only(send):
    body = send(lines([*planted(), *({"x": n} for n in range(20))])).content.decode()
    assert "texts.jsonl:241: record" in body
    assert "(and 19 more like it)" in body
    assert not any(part in body for part in (str(settings.UPLOAD_ROOT), "/audit-", str(Path.home())))
