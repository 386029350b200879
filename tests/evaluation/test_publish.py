"""Publish a release: the checklist names what is missing, a red one needs a reason, the upload goes through the Hub's
own client, and the anonymised copy is refused while it names anybody.
"""

import base64
import io
import json
import threading
import zipfile
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from django.core.files.base import ContentFile
from django.core.management import call_command
from django.urls import reverse
from huggingface_hub import constants

from evaluation.errors import EvaluationError
from evaluation.releases.actions.freeze_release import freeze_release
from foilworks.core.corpus.export_formats.parts import datasheet_questions
from foilworks.core.corpus.export_formats.parts.documents import ASKED
from foilworks.core.corpus.models import MediaState, Video
from foilworks.core.jobs.models import JobState
from foilworks.core.jobs.runner import run_now
from foilworks.core.projects.actions.consent import publish_consent_text
from foilworks.core.projects.errors import AccessDenied
from foilworks.core.projects.models import AuditEvent
from foilworks.site.documents.models import DatasheetAnswer, PublicationFacts, SourceLicence
from foilworks.site.publishing.actions.publish_release import ACTION, request_folder
from foilworks.site.publishing.checklist import FAIL, FIELDS, OK, SECTIONS, WARN, checklist, facts_of, is_red
from foilworks.site.publishing.folders import file_of, last_job
from foilworks.site.publishing.hub_folder import checklist_of, videos_to_copy, write_publication
from foilworks.site.publishing.sheet import content_for_answers
from foilworks.site.publishing.upload import repository_of, token_of, upload_folder
from tests.annotation.world import make_world
from tests.factories import make_caption, make_item, make_video

pytestmark = pytest.mark.django_db


@pytest.fixture
def world():
    return make_world({"slug": "dots", "name": "Dots"})


@pytest.fixture
def release(world):
    for number in range(2):
        video = make_video(world.project, key=f"v{number}", source_dataset="films", source_id=f"f{number}")
        video.file.save(f"v{number}.mp4", ContentFile(b"frames"))
        Video.objects.filter(pk=video.pk).update(media_state=MediaState.READY)
        caption = make_caption(video, f"a dot moves to place {number}.")
        make_item(world.subtest, caption, (f"no dot moves to place {number}.",), state="valid", key=str(number))
    return freeze_release(None, world.project)


def fill(release, **facts):
    """Answer everything that a person can."""
    project = release.project
    stated = {"title": "Dots", "authors": "Doe, Jane", "contact": "jane@example.org", "url": "https://example.org/d"}
    PublicationFacts.objects.update_or_create(project=project, defaults={**stated, "licence": "CC BY 4.0", **facts})
    SourceLicence.objects.update_or_create(project=project, source_dataset="films", defaults={"licence": "CC0"})
    for slug in {slug for slugs in ASKED.values() for slug in slugs}:
        DatasheetAnswer.objects.get_or_create(project=project, question=slug, defaults={"text": "Stated."})
    publish_consent_text(project.memberships.filter(role="researcher").first().person, project, "Text.", "choose")


def levels(release, **options):
    return {row.slug: row.level for row in checklist_of(release, **options)}


def test_an_undescribed_release_is_red_and_each_red_row_names_its_page(release):
    rows = {row.slug: row for row in checklist_of(release)}
    red = {slug for slug, row in rows.items() if row.level == FAIL}
    assert red >= {"authors", "contact", "licence", "sources", "rai"}
    assert (rows["licence"].page, rows["rai"].page) == ("publishing:publication", "publishing:datasheet")
    assert "films" in rows["sources"].why
    assert "personal and sensitive information" in rows["rai"].why


def test_a_described_release_has_no_red_row(release):
    fill(release)
    found = levels(release)
    assert FAIL not in found.values()
    assert (found["sources"], found["rai"], found["questions"]) == (OK, OK, WARN)
    # Reviewers do not see the authors.
    assert set(found) - set(levels(release, anonymous=True)) == {"title", "authors", "contact", "citation"}


def test_the_checklist_follows_from_the_facts_alone(release):
    fill(release)
    facts = facts_of(content_for_answers(release))
    assert json.loads(json.dumps(facts)) == facts
    worse = {"simulated": True, "n_workers": 3, "consent": 0, "gate": None, "n_as_published": 1, "n_extra": 2}
    found = {row.slug: row.level for row in checklist({**facts, **worse})}
    assert found | {"simulated": FAIL, "consent": FAIL, "blind": FAIL, "as_published": WARN, "extra": WARN} == found
    partly = {"n_workers": 3, "n_agreed": 2, "n_withheld": 1, "n_warned": 2, "licence_is_known": False}
    found = {row.slug: row.level for row in checklist({**facts, **partly})}
    assert {found[slug] for slug in ("consent", "items", "warnings", "licence")} == {WARN}
    assert is_red(checklist({**facts, "n_items": 0}))


def test_every_field_and_section_of_the_datasheet_has_a_name():
    assert set(FIELDS) == set(ASKED)
    assert set(SECTIONS) == {section.slug for section in datasheet_questions.SECTIONS}


def test_only_videos_whose_terms_allow_it_are_copied(release, tmp_path):
    fill(release)
    assert videos_to_copy(release) == {}
    SourceLicence.objects.update(may_show=True)
    found = videos_to_copy(release)
    written = write_publication(release, tmp_path / "out", videos=found)
    assert {path.name for path in written.files if path.parent.name == "videos"} == {"v0.mp4", "v1.mp4"}
    Video.objects.filter(key="v0").update(media_state=MediaState.MISSING)
    assert set(videos_to_copy(release)) == {"v1"}


def test_the_command_refuses_a_red_checklist_and_stores_the_reason_to_continue(release, tmp_path, capsys):
    command = ["publish", "--project", "dots", "--release", str(release.pk)]
    with pytest.raises(SystemExit) as stopped:
        call_command(*command)
    assert stopped.value.code == 1
    assert "FAIL" in capsys.readouterr().out
    out = tmp_path / "out"
    with pytest.raises(SystemExit):
        call_command(*command, "--out", str(out))
    assert "checklist is red" in capsys.readouterr().err
    assert not out.exists()
    call_command(*command, "--out", str(out), "--force", "only a rehearsal", "--json")
    found = json.loads(capsys.readouterr().out)
    assert found["red"] is True
    assert {"README.md", "eval.yaml", "croissant.json", "zenodo.json"} <= set(found["files"])
    event = AuditEvent.objects.get(action=ACTION)
    assert (event.reason, event.actor, event.details["anonymous"]) == ("only a rehearsal", None, False)
    assert "licence" in event.details["red"]


def test_a_green_checklist_needs_no_reason_and_the_command_exits_with_0(release, tmp_path, capsys):
    fill(release)
    call_command("publish", "--project", "dots", "--release", str(release.pk))
    assert "FAIL" not in capsys.readouterr().out
    call_command("publish", "--project", "dots", "--release", str(release.pk), "--out", str(tmp_path / "out"))
    assert "manifest" in capsys.readouterr().out
    assert AuditEvent.objects.get(action=ACTION).reason == ""


def test_an_anonymised_copy_that_names_a_member_is_refused(world, release, tmp_path):
    fill(release)
    person = world.owner
    person.first_name, person.last_name = "Zaphod", "Planted"
    person.save()
    written = write_publication(release, tmp_path / "out", anonymous=True)
    assert not [leak for leak in written.leaks if leak.is_certain]
    record = release.members.order_by("position").first()
    record.record["caption"] = "Zaphod Planted moves a dot."
    type(record).objects.filter(pk=record.pk).update(record=record.record)
    with pytest.raises(EvaluationError, match="zaphod planted in"):
        write_publication(release, tmp_path / "other", anonymous=True)
    assert not (tmp_path / "other").exists()
    forced = write_publication(release, tmp_path / "other", anonymous=True, keep_names=True)
    assert next(leak.text for leak in forced.leaks if leak.is_certain) == "zaphod planted"


def test_a_job_writes_the_folder_and_the_page_offers_it_until_it_is_withdrawn(world, release, client):
    client.force_login(world.owner)
    page = reverse("publishing:publish", args=["dots", release.pk])
    refused = client.post(page, {"anonymous": "on"})
    assert refused.status_code == 422
    assert "The checklist is red" in refused.content.decode()
    sent = client.post(page, {"anonymous": "on", "reason": "for a workshop"})
    assert sent.status_code == 302
    job = last_job(release)
    with pytest.raises(EvaluationError, match="being written"):
        request_folder(world.owner, release, [], anonymous=False, videos=False, reason="")
    run_now(job)
    job.refresh_from_db()
    assert (job.state, job.payload["anonymous"]) == (JobState.DONE, True)
    shown = client.get(page).content.decode()
    assert "Download folder" in shown
    file = client.get(reverse("publishing:publish_file", args=["dots", release.pk]))
    content = b"".join(file.streaming_content)
    names = zipfile.ZipFile(io.BytesIO(content)).namelist()
    assert "anonymous-benchmark/README.md" in names
    assert b"dots" not in "\n".join(names).encode()
    assert AuditEvent.objects.get(action=ACTION).reason == "for a workshop"
    AuditEvent.objects.create(action="erase_person", target_type="projects.user", target_id="1")
    assert file_of(release, job) is None
    assert client.get(reverse("publishing:publish_file", args=["dots", release.pk])).status_code == 404
    assert "Write it again" in client.get(page).content.decode()


def test_only_researchers_may_ask_for_a_folder(world, release):
    with pytest.raises(AccessDenied):
        request_folder(world.people["ann"], release, [], anonymous=True, videos=False, reason="")


class Hub(ThreadingHTTPServer):
    """A stub of the endpoints that the client calls: create, list, how to upload, commit."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Answers)
        self.calls, self.files, self.tokens, self.status = Counter(), {}, set(), 200
        self.endpoint = f"http://127.0.0.1:{self.server_port}"


class Answers(BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.calls[self.path.split("?")[0]] += 1
        self.answer([] if "/tree/" in self.path else {"id": "lab/dots", "sha": "0" * 40, "siblings": []})

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.server.calls[self.path.split("?")[0]] += 1
        self.server.tokens.add(self.headers.get("Authorization"))
        if "/commit/" in self.path:
            for line in map(json.loads, body.splitlines()):
                if line["key"] == "file":
                    self.server.files[line["value"]["path"]] = base64.b64decode(line["value"]["content"])
            self.answer({"commitUrl": f"{self.server.endpoint}/datasets/lab/dots/commit/1", "commitOid": "1" * 40})
        elif "/preupload/" in self.path:
            asked = json.loads(body)["files"]
            self.answer(
                {"files": [{"path": one["path"], "uploadMode": "regular", "shouldIgnore": False} for one in asked]}
            )
        else:
            self.answer({"url": f"{self.server.endpoint}/datasets/lab/dots"})

    def answer(self, value):
        data = json.dumps(value).encode()
        self.send_response(self.server.status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


@pytest.fixture
def hub(monkeypatch):
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    server = Hub()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


def test_the_client_of_the_hub_uploads_every_file_with_the_token_of_the_file(release, tmp_path, hub):
    fill(release)
    out, token = tmp_path / "out", tmp_path / "token"
    token.write_text("hf_secret\n", encoding="utf-8")
    write_publication(release, out, repository="lab/dots")
    address = upload_folder(out, "lab/dots", name="v1", token=token_of(token), endpoint=hub.endpoint)
    assert address.endswith("/datasets/lab/dots/commit/1")
    here = {path.relative_to(out).as_posix(): path.read_bytes() for path in out.rglob("*") if path.is_file()}
    assert hub.files == here
    assert hub.tokens == {"Bearer hf_secret"}
    assert hub.calls["/api/repos/create"] == 1


def test_a_refused_upload_is_one_clear_line(tmp_path, hub):
    (tmp_path / "README.md").write_text("x", encoding="utf-8")
    hub.status = 403
    with pytest.raises(EvaluationError, match="lab/dots: the Hub refused the upload"):
        upload_folder(tmp_path, "lab/dots", name="v1", token="hf_x", endpoint=hub.endpoint)
    for wrong in ("lab/dots", "hub:dots", "hub:../x", "hub:a/b/c"):
        with pytest.raises(EvaluationError, match="hub:OWNER/NAME"):
            repository_of(wrong)
    with pytest.raises(EvaluationError, match="token-file"):
        token_of(tmp_path / "none")
