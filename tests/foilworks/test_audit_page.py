"""The page that audits a visitor's file: bounded in size, number, time and memory; it stores nothing."""

import json
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


def test_columns_of_other_names_are_answered_without_options_of_the_command_only(send):
    answer = send("clip\tsays\n1\ta cup\n", "t.tsv").content.decode()
    assert "rename the columns to caption and foil" in answer
    assert "--format" not in answer


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
