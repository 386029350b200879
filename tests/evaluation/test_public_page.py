"""The public page of a release: nothing without its address, no name on it, videos by their terms, scores of others."""

import io
import json
import re
import zipfile
from datetime import timedelta
from pathlib import Path

import pytest
from django.conf import settings
from django.core.files.base import ContentFile
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.actions.decisions.items import take_down_video
from annotation.erasure.actions.erase_person import erase_person
from annotation.models import Vote
from evaluation.board.latex import markdown
from evaluation.board.leaderboard import board
from evaluation.errors import EvaluationError
from evaluation.releases.actions.freeze_release import freeze_release
from evaluation.scoring.models import Run
from foilworks.core.corpus.models import Item, Release
from foilworks.core.jobs.models import JobState
from foilworks.core.jobs.runner import run_now
from foilworks.core.projects.errors import AccessDenied
from foilworks.core.projects.limits.rate_limits import SCORES_HERE
from foilworks.core.projects.models import AuditEvent, Role
from foilworks.site.documents.models import DatasheetAnswer, PublicationFacts, SourceLicence
from foilworks.site.exports.collect import collect_release
from foilworks.site.exports.verify import verify
from foilworks.site.publishing.actions.set_public_page import renew_address, request_archive, set_public_page
from foilworks.site.publishing.actions.submissions import accept_submission, expire_submissions, refuse_submission
from foilworks.site.publishing.models import PublicPage, Submission
from tests.addresses import named
from tests.annotation.world import World, make_world
from tests.factories import make_caption, make_item, make_member, make_project, make_video
from tests.pages import read_page

pytestmark = pytest.mark.django_db

HOSTILE = "<script>alert(1)</script>"
CONTACT = "ann@example.org"


@pytest.fixture
def world() -> World:
    return make_world({"slug": "dots", "name": "Dots"})


def frozen(world, n=2, source="films") -> Release:
    for number in range(n):
        video = make_video(world.project, key=f"v{number}", source_dataset=source)
        video.file.save(f"v{number}.mp4", ContentFile(b"frames"))
        caption = make_caption(video, f"dot {number} {HOSTILE}")
        make_item(world.subtest, caption, (f"no dot {number}",), state="valid", key=str(number))
    return freeze_release(None, world.project)


@pytest.fixture
def opened(world) -> PublicPage:
    return set_public_page(world.owner, frozen(world), is_open=True, offers_export=False, takes_scores=True)


@pytest.fixture
def stranger():
    return Client(enforce_csrf_checks=False)


def url(name, opened, *args):
    return reverse(named(name), args=[opened.key, *args])


def allow(opened, source="films"):
    SourceLicence.objects.create(project=opened.release.project, source_dataset=source, licence="CC0", may_show=True)


def rows(opened, **changes):
    records = opened.release.members.order_by("position").values_list("record", flat=True)
    found = [{"id": record["id"], "caption": 1.0, "foils": [0.0] * len(record["foils"])} for record in records]
    found[0] |= changes
    return "".join(json.dumps(row) + "\n" for row in found).encode()


def send(stranger, opened, content, **fields):
    about = {"label": "Their model", "sent_by": "A lab", "contact": CONTACT, "url": "", "notes": ""}
    file = SimpleUploadedFile("scores.jsonl", content)
    return stranger.post(url("public_scores", opened), {**about, **fields, "scores": file})


# Tab -> queries.
TABS = {
    "public_release": 14,
    "public_data": 11,
    "public_leaderboard": 10,
    "public_validation": 11,
    "public_versions": 6,
}


class TestPage:
    def test_it_is_read_without_an_account_and_names_nobody(self, stranger, opened, world):
        PublicationFacts.objects.create(project=world.project, title=HOSTILE, authors="Doe, Ann", licence="CC BY 4.0")
        answer = stranger.get(url("public_release", opened))
        body = answer.content.decode()
        assert answer.status_code == 200
        assert opened.release.content_hash in stranger.get(url("public_data", opened)).content.decode()
        assert HOSTILE not in body
        assert "&lt;script&gt;alert(1)" in body
        assert "CC BY 4.0" in body
        assert not any(person.username in body for person in (world.owner, world.ann))
        assert answer.headers["Referrer-Policy"] == "same-origin"
        assert answer.headers["X-Robots-Tag"] == "noindex"

    def test_closed_renewed_and_guessed_addresses_do_not_work(self, stranger, opened, world):
        old = url("public_release", opened)
        new = renew_address(world.owner, opened.release)
        assert stranger.get(old).status_code == 404
        assert stranger.get(url("public_release", new)).status_code == 200
        set_public_page(world.owner, opened.release, is_open=False, offers_export=True, takes_scores=True)
        for name in (*TABS, "public_scores", "public_sent", "public_export"):
            assert stranger.get(url(name, new)).status_code == 404
        assert stranger.get(f"/r/{opened.release_id}/").status_code == 404
        assert len(opened.key) >= 20

    def test_only_researchers_open_it_and_it_is_audited(self, opened, world):
        with pytest.raises(AccessDenied):
            set_public_page(world.ann, opened.release, is_open=True, offers_export=False, takes_scores=False)
        event = AuditEvent.objects.get(action="evaluation.set_public_page")
        assert event.details["is_open"] is True

    def test_more_items_need_no_more_queries(self, stranger, world, django_assert_max_num_queries):
        opened = set_public_page(world.owner, frozen(world, 8), is_open=True, offers_export=True, takes_scores=True)
        run_now(opened.job)
        for name, most in TABS.items():
            stranger.get(url(name, opened))
            with django_assert_max_num_queries(most):
                assert stranger.get(url(name, opened)).status_code == 200
        with django_assert_max_num_queries(2):
            stranger.get(url("public_scores", opened))


class TestTabs:
    def test_each_tab_is_marked_and_hidden_from_search_engines(self, stranger, opened):
        for name in TABS:
            answer = stranger.get(url(name, opened))
            current = re.findall(r'href="([^"]+)" aria-current="page"', answer.content.decode())
            assert current == [url(name, opened)]
            assert answer.headers["X-Robots-Tag"] == "noindex"
            assert answer.headers["Referrer-Policy"] == "same-origin"

    def test_a_link_to_a_tab_says_what_it_leads_to(self, stranger, opened):
        for tab in ("public_release", "public_validation"):
            body = stranger.get(reverse(f"publishing:{tab}", args=[opened.key])).content.decode()
            assert '<meta property="og:title" content="Dots">' in body
            assert re.search('name="description" content="[^"]+: 2 items, each', body)
        assert "is being prepared" in body

    def test_a_link_has_a_picture_that_is_a_png(self, stranger, opened):
        head = stranger.get(url("public_release", opened)).content.decode()
        address = re.search('property="og:image" content="([^"]+)"', head)[1]
        answer = stranger.get(address)
        assert (answer.status_code, answer.headers["Content-Type"]) == (200, "image/png")
        assert answer.content.startswith(b"\x89PNG")

    def test_items_are_listed_unless_the_owner_does_not_want_it_or_they_are_taken_down(self, stranger, opened, world):
        def listed():
            body = stranger.get(url("public_data", opened)).content.decode()
            return [row for row in opened.release.members.all() if f'cell-model">{row.record["id"]}<' in body]

        assert len(listed()) == 2
        switches = {"is_open": True, "offers_export": False, "takes_scores": False}
        set_public_page(world.owner, opened.release, lists_items=False, **switches)
        assert listed() == []
        set_public_page(world.owner, opened.release, **switches)
        taken = opened.release.members.first()
        take_down_video(world.owner, "dots", taken.video_id, "asked for")
        assert len(listed()) == 1

    def test_a_later_release_lists_its_changes(self, stranger, opened, world):
        assert "This is the first release." in stranger.get(url("public_versions", opened)).content.decode()
        make_item(world.subtest, make_caption(make_video(world.project)), state="valid", key="later")
        second = freeze_release(None, world.project, name="second")
        page = set_public_page(world.owner, second, is_open=True, offers_export=False, takes_scores=False)
        body = stranger.get(url("public_versions", page)).content.decode()
        assert "Added</h3>" in body.replace(" (1)", "")
        assert "later" in body
        # The address of a page is a secret of its own.
        assert opened.key not in body


class TestLicences:
    def test_a_visitor_reads_why_a_video_does_not_play(self, stranger, opened):
        said = {each.why for each in stranger.get(url("public_release", opened)).context["examples"]}
        assert said == {"No licence is stated for this video, so this page does not play it."}
        terms = SourceLicence.objects.create(project=opened.release.project, source_dataset="films", licence="CC0")
        said = {each.why for each in stranger.get(url("public_release", opened)).context["examples"]}
        assert said == {"The benchmark team did not allow this page to play videos of this source."}
        SourceLicence.objects.filter(pk=terms.pk).update(may_show=True)
        assert {each.why for each in stranger.get(url("public_release", opened)).context["examples"]} == {""}
        opened.release.members.first().video.file.delete()
        said = {each.why for each in stranger.get(url("public_release", opened)).context["examples"]}
        assert said == {"", "There is no playable file of this video."}

    def test_the_researcher_reads_which_licences_are_missing(self, client, opened, world):
        client.force_login(world.owner)
        address = reverse("publishing:public_page", args=["dots", opened.release_id])
        body = client.get(address).content.decode()
        assert "No licence." in body
        assert reverse("publishing:publication", args=["dots"]) in body
        assert client.get(address).context["unlicensed"] == ["films"]
        PublicationFacts.objects.create(project=world.project, licence="CC BY 4.0")
        allow(opened)
        assert "No licence." not in client.get(address).content.decode()

    def test_a_source_that_may_play_is_not_said_to_be_silent(self, client, opened, world):
        SourceLicence.objects.create(project=world.project, source_dataset="films", may_show=True)
        client.force_login(world.owner)
        answer = client.get(reverse("publishing:public_page", args=["dots", opened.release_id]))
        assert (answer.context["unlicensed"], answer.context["silent"]) == (["films"], [])
        assert "You have not allowed the page to play" not in answer.content.decode()
        assert f'data-copy="http://testserver{url("public_release", opened)}"' in answer.content.decode()

    def test_three_examples_are_shown_and_those_that_play_come_first(self, stranger, world):
        release = frozen(world, 5)
        for member in release.members.order_by("position")[:3]:
            member.video.file.delete()
        opened = set_public_page(world.owner, release, is_open=True, offers_export=False, takes_scores=False)
        allow(opened)
        shown = stranger.get(url("public_release", opened)).context["examples"]
        assert [bool(each.src) for each in shown] == [False, True, True]


class TestVideos:
    def position(self, opened):
        return opened.release.members.order_by("position").first().position

    def test_a_video_is_shown_only_where_its_source_allows_it(self, stranger, opened):
        address = url("public_video", opened, self.position(opened))
        assert stranger.get(address).status_code == 404
        assert "<video" not in stranger.get(url("public_release", opened)).content.decode()
        allow(opened)
        answer = stranger.get(address)
        assert (answer.status_code, b"".join(answer.streaming_content)) == (200, b"frames")
        assert f'src="{address}"' in stranger.get(url("public_release", opened)).content.decode()

    def test_a_licence_of_another_source_does_not_apply(self, stranger, opened):
        SourceLicence.objects.create(project=opened.release.project, source_dataset="other", may_show=True)
        assert stranger.get(url("public_video", opened, self.position(opened))).status_code == 404

    def test_taken_down_items_leave_the_page_at_once(self, stranger, opened, world):
        allow(opened)
        member = opened.release.members.select_related("video").order_by("position").first()
        take_down_video(world.owner, world.project.slug, member.video_id, "asked for")
        assert stranger.get(url("public_video", opened, member.position)).status_code == 404
        body = stranger.get(url("public_release", opened)).content.decode()
        assert member.record["id"] not in body
        assert "1 item is withheld" in body

    def test_no_other_item_of_the_release_can_be_watched(self, stranger, world):
        opened = set_public_page(world.owner, frozen(world, 14), is_open=True, offers_export=False, takes_scores=False)
        allow(opened)
        answers = [stranger.get(url("public_video", opened, number)).status_code for number in range(15)]
        assert answers.count(200) == 12
        assert answers[-1] == 404


class TestScores:
    def test_submissions_are_hidden_until_they_are_accepted(self, stranger, opened, world):
        assert send(stranger, opened, rows(opened)).status_code == 302
        sent = Submission.objects.get()
        assert (sent.state, sent.n_items, sent.contact) == ("waiting", 2, CONTACT)
        assert "Their model" not in stranger.get(url("public_release", opened)).content.decode()
        assert not Run.objects.exists()
        event = AuditEvent.objects.get(action="evaluation.submit_scores")
        assert CONTACT not in json.dumps(event.details)

    def test_an_accepted_submission_is_marked_as_external_on_the_board(self, stranger, opened, world):
        send(stranger, opened, rows(opened))
        run = accept_submission(world.owner, Submission.objects.get()).run
        assert run_now(run.job).state == JobState.DONE
        (row,) = board(opened.release).scored
        assert (row.run.label, row.group["T"], row.run.params["sent_by"]) == ("Their model", 1.0, "A lab")
        assert "Their model (external submission)" in markdown(board(opened.release))
        assert collect_release(opened.release).tables["leaderboard"]["models"][0]["sent_by"] == "A lab"
        body = stranger.get(url("public_leaderboard", opened)).content.decode()
        read_page(body).check("external submission", "A lab")
        assert CONTACT not in body
        with pytest.raises(EvaluationError, match="already accepted or rejected"):
            refuse_submission(world.owner, Submission.objects.get(), "late")

    def test_a_rejected_submission_keeps_its_reason_and_is_hidden(self, stranger, opened, world):
        send(stranger, opened, rows(opened))
        with pytest.raises(EvaluationError, match="Enter a reason"):
            refuse_submission(world.owner, Submission.objects.get(), "  ")
        refuse_submission(world.owner, Submission.objects.get(), "trained on the release")
        assert Submission.objects.get().reason == "trained on the release"
        assert not Run.objects.exists()

    def test_only_researchers_decide(self, stranger, opened, world):
        send(stranger, opened, rows(opened))
        with pytest.raises(AccessDenied):
            accept_submission(world.ann, Submission.objects.get())

    def test_a_wrong_file_is_explained_line_by_line_and_leaves_nothing(self, stranger, opened):
        answer = send(stranger, opened, rows(opened, caption="x") + rows(opened, id=f"no {HOSTILE}"))
        body = answer.content.decode()
        assert answer.status_code == 422
        assert "line 1: caption: is &#x27;x&#x27;; give a finite number" in body
        assert "is not an item of the release" in body
        assert HOSTILE not in body
        assert not Submission.objects.exists()
        assert not list(settings.UPLOAD_ROOT.glob("submission-*"))

    @pytest.mark.parametrize(
        "again",
        [
            lambda content: content,
            lambda content: content.replace(b'"caption": 1.0', b'"junk": "' + b"x" * 100_000 + b'", "caption": 1'),
            lambda content: b"\n".join(reversed(content.splitlines())),
        ],
        ids=["the file", "padded and spelled in another way", "in another order"],
    )
    def test_the_same_numbers_are_accepted_once(self, stranger, opened, again):
        send(stranger, opened, rows(opened, caption=1.0))
        content = again(rows(opened, caption=1.0))
        assert "already submitted" in send(stranger, opened, content, label="again").content.decode()
        assert Submission.objects.count() == 1

    def test_only_the_numbers_of_a_padded_file_are_stored(self, stranger, opened):
        send(stranger, opened, rows(opened, junk="x" * 500_000))
        sent = Submission.objects.get()
        stored = settings.UPLOAD_ROOT / sent.path
        assert [path.name for path in stored.parent.iterdir()] == ["scores.jsonl"]
        assert (sent.file_name, stored.stat().st_size < 1000) == ("scores.jsonl", True)
        assert [set(json.loads(line)) for line in stored.read_text().splitlines()] == [{"id", "caption", "foils"}] * 2

    def test_the_number_of_waiting_submissions_is_limited(self, stranger, opened, world, settings):
        settings.SUBMISSION_MAX_OPEN = 2
        for score in (1, 2):
            assert send(stranger, opened, rows(opened, caption=score)).status_code == 302
        assert "Too many submissions" in send(stranger, opened, rows(opened, caption=3)).content.decode()
        refuse_submission(world.owner, Submission.objects.first(), "no")
        assert send(stranger, opened, rows(opened, caption=3)).status_code == 302
        assert Submission.objects.count() == 3

    def test_undecided_submissions_are_deleted_with_their_numbers(
        self, stranger, opened, world, django_capture_on_commit_callbacks
    ):
        for score in (1, 2, 3):
            send(stranger, opened, rows(opened, caption=score))
        third, second, first = Submission.objects.all()
        refuse_submission(world.owner, first, "no")
        Submission.objects.filter(pk=second.pk).update(sent_at=timezone.now() - timedelta(days=1))
        end = timezone.now() + timedelta(days=settings.SUBMISSION_KEEP_DAYS - 0.5)
        with django_capture_on_commit_callbacks(execute=True):
            assert (expire_submissions(), expire_submissions(now=end)) == (0, 1)
        assert {*Submission.objects.all()} == {first, third}
        assert [(settings.UPLOAD_ROOT / each.path).exists() for each in (first, second, third)] == [True, False, True]
        event = AuditEvent.objects.get(action="evaluation.expire_submission")
        assert (event.actor, event.reason, CONTACT in json.dumps(event.details)) == (
            None,
            "not decided on for 90 days",
            False,
        )

    def test_long_form_fields_are_refused_unread(self, stranger, opened):
        answer = send(stranger, opened, rows(opened), notes="x" * 70_000)
        assert (answer.status_code, "are too long" in answer.content.decode()) == (400, True)
        assert len(answer.content) < 20_000

    def test_a_file_too_large_is_refused_before_it_is_read(self, stranger, opened, settings):
        settings.SUBMISSION_MAX_BYTES = 1000
        assert send(stranger, opened, b"x" * 2_000_000).status_code in {400, 413}
        assert "larger than" in send(stranger, opened, b"x" * 2000).content.decode()
        assert not Submission.objects.exists()

    def test_submissions_per_address_and_hour_are_limited(self, stranger, opened):
        for _ in range(SCORES_HERE.most):
            assert send(stranger, opened, b"{}").status_code == 422
        assert send(stranger, opened, rows(opened)).status_code == 429
        assert not Submission.objects.exists()

    def test_a_release_without_submissions_has_no_form(self, stranger, opened, world):
        set_public_page(world.owner, opened.release, is_open=True, offers_export=False, takes_scores=False)
        assert send(stranger, opened, rows(opened)).status_code == 404

    def test_a_name_in_two_lines_is_refused(self, stranger, opened):
        assert send(stranger, opened, rows(opened), sent_by="a\nb").status_code == 422

    def test_the_form_is_protected_against_other_sites(self, opened):
        assert send(Client(enforce_csrf_checks=True), opened, rows(opened)).status_code == 403

    def test_owners_see_the_contact_and_decide_on_their_page(
        self, client, stranger, opened, world, django_assert_max_num_queries
    ):
        send(stranger, opened, rows(opened), notes=HOSTILE)
        send(stranger, opened, rows(opened, caption=2.0))
        client.force_login(world.owner)
        address = reverse("publishing:public_page", args=["dots", opened.release_id])
        # The licences of a release are looked up by its sources, which are counted once.
        client.get(address)
        with django_assert_max_num_queries(12):
            body = client.get(address).content.decode()
        assert CONTACT in body
        assert HOSTILE not in body
        move = reverse("publishing:submission", args=["dots", opened.release_id, Submission.objects.first().pk])
        client.post(move, {"move": "refuse", "reason": "no"})
        assert [each.state for each in Submission.objects.all()] == ["refused", "waiting"]


class KilledError(BaseException):
    """As a kill: nothing of the job runs after it."""


def _killed_in_the_middle(path, name=""):
    """Half of the file is stored beside its place, as `store` does it."""
    if name:
        arriving = settings.MEDIA_ROOT / Path(name).with_name(".half")
        arriving.write_bytes(path.read_bytes()[:100])
    raise KilledError


class TestArchive:
    def test_it_is_built_by_a_job_and_contains_the_whole_export(self, stranger, opened, world, tmp_path):
        assert stranger.get(url("public_export", opened)).status_code == 404
        opened = set_public_page(world.owner, opened.release, is_open=True, offers_export=True, takes_scores=True)
        assert run_now(opened.job).state == JobState.DONE
        answer = stranger.get(url("public_export", opened))
        content = b"".join(answer.streaming_content)
        assert answer.headers["Content-Disposition"].startswith("attachment")
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            archive.extractall(tmp_path / "x")
        (folder,) = (tmp_path / "x").iterdir()
        shown = re.search(r"--expect (\w{64})", stranger.get(url("public_data", opened)).content.decode())
        assert verify(folder, shown.group(1))["ok"]
        assert "scores of other models can be submitted" in (folder / "datasheet.md").read_text()

    def test_after_a_takedown_it_is_withdrawn_until_it_is_built_again(self, stranger, opened, world):
        opened = set_public_page(world.owner, opened.release, is_open=True, offers_export=True, takes_scores=True)
        run_now(opened.job)
        take_down_video(world.owner, "dots", opened.release.members.first().video_id, "asked for")
        answer = stranger.get(url("public_export", opened))
        assert answer.status_code == 400
        assert "withdrawn" in answer.content.decode()
        run_now(request_archive(world.owner, opened.release).job)
        assert stranger.get(url("public_export", opened)).status_code == 200

    @pytest.mark.full
    @pytest.mark.parametrize("step", ["store", "_remove_others"])
    def test_a_killed_worker_leaves_no_second_file(self, stranger, opened, world, monkeypatch, step):
        """Neither half a file, nor one that no page names."""
        opened = set_public_page(world.owner, opened.release, is_open=True, offers_export=True, takes_scores=True)
        run_now(opened.job)
        make_item(world.subtest, make_caption(make_video(world.project)), state="valid")
        again = request_archive(world.owner, opened.release).job
        with monkeypatch.context() as patched, pytest.raises(KilledError):
            patched.setattr(f"foilworks.site.publishing.archive.{step}", _killed_in_the_middle)
            run_now(again)
        assert stranger.get(url("public_export", opened)).status_code == 200
        run_now(again)
        opened.refresh_from_db()
        kept = [path for path in settings.MEDIA_ROOT.rglob("*") if path.is_file() and "releases" in path.parts]
        assert [path.relative_to(settings.MEDIA_ROOT).as_posix() for path in kept] == [opened.archive.name]

    @pytest.mark.parametrize("worked", [True, False])
    def test_it_is_withdrawn_when_a_person_in_it_is_erased(self, client, stranger, world, worked):
        project = world.project if worked else make_project()
        person = make_member(project, Role.ANNOTATOR, name="zaphod.planted")
        if not worked:
            DatasheetAnswer.objects.create(project=world.project, question="curators", text="Ask Zaphod.Planted.")
        opened = set_public_page(world.owner, frozen(world), is_open=True, offers_export=True, takes_scores=False)
        run_now(opened.job)
        assert stranger.get(url("public_export", opened)).status_code == 200
        erase_person(person, person, "keep")
        assert stranger.get(url("public_export", opened)).status_code == 400
        client.force_login(world.owner)
        owners = reverse("publishing:public_page", args=["dots", opened.release_id])
        assert "withdrawn, because content was" in client.get(owners).content.decode()
        run_now(request_archive(world.owner, opened.release).job)
        assert stranger.get(url("public_export", opened)).status_code == 200

    def test_it_is_withdrawn_if_a_person_is_erased_while_it_is_built(self, stranger, world):
        opened = set_public_page(world.owner, frozen(world), is_open=True, offers_export=True, takes_scores=False)
        AuditEvent.objects.create(action="erase_person", target_type="user", target_id="1")
        AuditEvent.objects.filter(action="erase_person").update(at=timezone.now() + timedelta(minutes=1))
        run_now(opened.job)
        assert stranger.get(url("public_export", opened)).status_code == 400

    def test_it_is_withdrawn_after_a_takedown_outside_the_release(self, stranger, world):
        """Beside the released items the archive holds the project's others."""
        release = frozen(world)
        later = make_item(world.subtest, make_caption(make_video(world.project)), state="valid")
        opened = set_public_page(world.owner, release, is_open=True, offers_export=True, takes_scores=False)
        run_now(opened.job)
        assert stranger.get(url("public_export", opened)).status_code == 200
        take_down_video(world.owner, "dots", later.video_id, "asked for")
        assert stranger.get(url("public_export", opened)).status_code == 400


class TestWhatPeopleSaid:
    def test_judgements_are_shown_as_archived_until_they_are_withdrawn(self, stranger, world):
        release = frozen(world, 3)
        page = set_public_page(world.owner, release, is_open=True, offers_export=False, takes_scores=False)
        # Nothing was computed yet, and a visitor's look computes nothing.
        assert stranger.get(url("public_validation", page)).context["judged"] is None
        for number, item in enumerate(Item.objects.order_by("pk")):
            for person in (world.ann, world.owner):
                choice = "caption" if number or person == world.ann else "both"
                Vote.objects.create(
                    item=item,
                    foil=item.foils.get(),
                    person=person,
                    choice=choice,
                    caption_first=True,
                    idempotency_key=f"{number}-{person.pk}",
                )
        run_now(request_archive(world.owner, release).job)
        answer = stranger.get(url("public_validation", page))
        judged, body = answer.context["judged"], answer.content.decode()
        assert (judged.whole["n_items"], judged.whole["n_valid"], judged.agreement["n_votes"]) == (3, 3, 6)
        assert "Human validation" in body
        assert "2 people gave 6 counted votes" in body
        assert '<span class="ci">truth</span>' in body
        assert not any(person.username in body for person in (world.owner, world.ann))
        Vote.objects.first().delete()
        assert stranger.get(url("public_validation", page)).context["judged"] is None
