"""Reports of visitors about released items: who may send them, what follows, and what the next release says."""

import pytest
from django.test import Client
from django.urls import reverse

from annotation.actions.quality.recounts import ask_for_new_votes
from annotation.actions.submissions.judgements import submit_vote
from annotation.errors import AnnotationError
from annotation.models import Slot, Vote, VoteState
from evaluation.errors import EvaluationError
from evaluation.releases.actions.freeze_release import freeze_release
from evaluation.releases.actions.rescore import rescore
from evaluation.releases.changelog import changelog_of
from evaluation.releases.changes import shifts, unscored
from evaluation.releases.models import ItemReport, ReportState
from evaluation.scoring.actions.start_run import start_run
from evaluation.scoring.models import Run, Score
from evaluation.scoring.queries import records_of
from evaluation.scoring.run_request import RunRequest
from foilworks.core.corpus.export_formats.parts.documents import render
from foilworks.core.corpus.export_formats.parts.facts import facts_of
from foilworks.core.corpus.models import Item, Release
from foilworks.core.corpus.release_records import hash_of
from foilworks.core.corpus.rules.states import ItemState
from foilworks.core.jobs.models import JobState
from foilworks.core.jobs.runner import run_now
from foilworks.core.projects.errors import AccessDenied
from foilworks.core.projects.limits.rate_limits import REPORTS_HERE
from foilworks.core.projects.models import AuditEvent
from foilworks.site.exports.collect import collect_release
from foilworks.site.invariants.registry import violations
from foilworks.site.publishing.actions.report_item import ask_again, dismiss, expire_reports
from foilworks.site.publishing.actions.set_public_page import set_public_page
from foilworks.site.publishing.models import PublicPage
from tests import factories
from tests.annotation.world import World, later, make_world, new_key, shown_as
from tests.evaluation.ranked import number_of, score

pytestmark = pytest.mark.django_db
N, FLIPPED = 20, 10
CONTACT = "ann@example.org"
WHY = "The texts of this test are alike on purpose."


@pytest.fixture
def world() -> World:
    """Twenty valid items on videos of their own; the first ten have a true foil."""
    world = make_world({"slug": "living", "name": "Living"})
    for k in range(N):
        caption = factories.make_caption(factories.make_video(world.project, key=f"v{k}"), f"a ball moves {k}")
        factories.make_item(world.subtest, caption, (f"a ball rests {k}",), state=ItemState.VALID, key=f"{k:02}")
    return world


@pytest.fixture
def first(world) -> Release:
    return freeze_release(None, world.project, name="1.0", override=WHY)


@pytest.fixture
def opened(world, first) -> PublicPage:
    return set_public_page(world.owner, first, is_open=True, offers_export=False, takes_scores=False)


def send(client: Client, opened: PublicPage, item: str, **fields):
    about = {"item": item, "why": "foil", "text": "", "contact": "", **fields}
    return client.post(reverse("publishing:report", args=[opened.key]), about)


def name_of(release: Release, k: int) -> str:
    return next(one["id"] for one in records_of(release) if number_of(one) == k)


def members(release: Release, *numbers: int) -> list[int]:
    rows = release.members.order_by("position")
    return [row.pk for row in rows if number_of(row.record) in numbers]


class TestVisitors:
    def test_anybody_reports_an_item_of_an_open_page(self, opened, first):
        stranger = Client()
        item = name_of(first, 3)
        form = stranger.get(reverse("publishing:report", args=[opened.key]) + f"?item={item}")
        assert f'value="{item}"' in form.content.decode()
        answer = send(stranger, opened, item, text="It does rest.", contact=CONTACT)
        assert answer.url == reverse("publishing:report_sent", args=[opened.key])
        report = ItemReport.objects.get()
        assert (report.member.record["id"], report.why, report.state) == (item, "foil", "waiting")
        page = stranger.get(reverse("publishing:public_release", args=[opened.key])).content.decode()
        assert CONTACT not in page + str(AuditEvent.objects.values_list("details", flat=True))

    @pytest.mark.parametrize(
        ("fields", "said"),
        [
            ({"item": "verbs:nothing"}, "This release shows no item with this ID"),
            ({"why": "spam"}, "Select a valid choice"),
            ({"why": "other"}, "Describe what is wrong"),
            ({"text": "x" * 501}, "at most 500 characters"),
            ({"contact": "a\x07b"}, "unprintable"),
        ],
    )
    def test_a_wrong_report_is_refused(self, opened, first, fields, said):
        answer = send(Client(), opened, **{"item": name_of(first, 3), **fields})
        assert answer.status_code == 422
        assert said in answer.content.decode()
        assert not ItemReport.objects.exists()

    def test_a_private_item_is_as_unknown_as_one_that_does_not_exist(self, opened, first):
        first.members.filter(pk__in=members(first, 3)).update(is_private=True)
        row = first.members.get(pk=members(first, 3)[0])
        answers = [send(Client(), opened, item) for item in (row.record["id"], "verbs:nothing")]
        said = [[str(each) for each in answer.context["form"].errors["item"]] for answer in answers]
        assert said[0] == said[1]

    def test_closed_pages_forged_posts_and_floods_are_refused(self, opened, first, world):
        assert send(Client(enforce_csrf_checks=True), opened, name_of(first, 3)).status_code == 403
        # The forged one counts, too: requests are counted before they are read.
        answers = [send(Client(), opened, "x").status_code for _ in range(REPORTS_HERE.most)]
        assert answers[-2:] == [422, 429]
        set_public_page(world.owner, first, is_open=False, offers_export=False, takes_scores=False)
        elsewhere = Client(REMOTE_ADDR="203.0.113.9")
        assert send(elsewhere, opened, name_of(first, 3)).status_code == 404

    def test_old_reports_are_deleted_and_contacts_of_decided_ones_are_forgotten(self, opened, first, world):
        for k in (3, 4):
            send(Client(), opened, name_of(first, k), contact=CONTACT)
        dismiss(world.owner, first, members(first, 3), "The foil is false.")
        assert expire_reports() == 0
        assert expire_reports(now=later(days=91)) == 2
        assert list(ItemReport.objects.values_list("state", "contact")) == [("dismissed", "")]


class TestNewVotes:
    def test_people_who_have_not_judged_it_judge_it_again_and_earlier_votes_do_not_count(self, world):
        Item.objects.all().delete()
        item = world.made_item()
        old = ("vera", "vic", "val")
        for name in old:
            world.vote(name)
        item.refresh_from_db()
        assert item.state == ItemState.VALID
        before = violations()
        assert ask_for_new_votes(world.owner, world.project, [item.pk], "reported") == 1
        item.refresh_from_db()
        assert item.state == ItemState.IN_VALIDATION
        assert [world.claim(name, "validation") for name in old] == [None] * 3
        for name in ("new1", "new2", "new3"):
            world.people[name] = factories.make_member(world.project, "validator", name=f"{name}-x")
            world.vote(name, "foil")
        item.refresh_from_db()
        assert item.state == ItemState.INVALID
        votes = Vote.objects.filter(item=item)
        assert votes.filter(state=VoteState.SURPLUS).count() == votes.filter(state=VoteState.COUNTED).count() == 3
        assert violations() == before
        assert ask_for_new_votes(world.owner, world.project, [item.pk], "again") == 1
        assert ask_for_new_votes(world.owner, world.project, [item.pk], "waits already") == 0

    def test_it_needs_a_role_a_reason_and_a_video(self, world):
        item = Item.objects.first()
        with pytest.raises(AccessDenied):
            ask_for_new_votes(world.vera, world.project, [item.pk], "reported")
        with pytest.raises(AnnotationError, match="Enter a reason"):
            ask_for_new_votes(world.owner, world.project, [item.pk], " ")
        item.video.media_state = "missing"
        item.video.save()
        with pytest.raises(AnnotationError, match="Nobody can watch the video"):
            ask_for_new_votes(world.owner, world.project, [item.pk], "reported")


class TestNextRelease:
    @pytest.fixture
    def second(self, world, first, opened) -> Release:
        """Twelve items are reported; the ten with a flipped label turn out invalid, one is confirmed, one dismissed."""
        for k in range(FLIPPED + 1):
            send(Client(REMOTE_ADDR=f"10.0.{k}.1"), opened, name_of(first, k))
        send(Client(), opened, name_of(first, 12))
        client = Client()
        client.force_login(world.owner)
        address = reverse("publishing:item_reports", args=["living", first.pk])
        listed = client.get(address).content.decode()
        assert name_of(first, 0) in listed
        asked = members(first, *range(FLIPPED + 1))
        client.post(address, {"member": asked, "move": "ask"})
        client.post(address, {"member": members(first, 12), "move": "dismiss", "reason": "The foil is false."})
        for name in ("vera", "vic", "val"):
            for _ in range(FLIPPED + 1):
                work = world.claim(name, "validation")
                flipped = int(Slot.objects.get(pk=work.slot_id).item.key) < FLIPPED
                person, answer = getattr(world, name), shown_as("foil" if flipped else "caption", work)
                submit_vote(person, work.token, new_key(), answer)
        return freeze_release(None, world.project, name="1.1", override=WHY)

    def test_hashes_and_ranks_change_as_computed_by_hand(self, world, first, opened, tmp_path, request):
        """A has 16 of 20 right, the ten flipped among them; B the ten others. Of those ten, A has 6 and B 10."""
        score(first, tmp_path, "A", lambda k: k < 16)
        score(first, tmp_path, "B", lambda k: k >= FLIPPED)
        old = records_of(first)
        fake = start_run(None, first, RunRequest("fake:text"))
        assert run_now(fake.job).state == JobState.DONE
        second: Release = request.getfixturevalue("second")
        stored = Score.objects.count()
        assert records_of(first) == old
        assert Release.objects.get(pk=first.pk).content_hash == hash_of(old) == first.content_hash
        kept = [one for one in old if number_of(one) >= FLIPPED]
        assert second.content_hash == hash_of(kept) != first.content_hash
        rows = {row.label: row for row in shifts(first, second)}
        own = rows.pop(fake.label)
        assert (own.n_before, own.n_after, own.same_before == own.same_after) == (N, N - FLIPPED, True)
        assert {name: (row.before, row.after) for name, row in rows.items()} == {"A": (0.8, 0.6), "B": (0.5, 1.0)}
        assert rows["A"].place_before < rows["B"].place_before
        assert rows["A"].place_after > rows["B"].place_after == 1
        assert all(row.same_before == row.same_after for row in rows.values())
        assert rows["A"].before_ci[0] < 0.8 < rows["A"].before_ci[1]
        assert unscored(first, second) == []
        # Nothing was scored for it.
        assert not Run.objects.filter(release=second).exists()
        assert Score.objects.count() == stored

    def test_the_changelog_says_what_came_of_the_reports(self, world, first, second):
        names = [name_of(first, k) for k in range(FLIPPED)]
        outcomes = {row["id"]: row["outcome"] for row in changelog_of(second)["reported"]}
        assert outcomes == {
            **dict.fromkeys(names, "removed"),
            name_of(first, 10): "confirmed",
            name_of(first, 12): "dismissed",
        }
        text = render("exports/CHANGELOG.md", facts_of(collect_release(second)))
        assert f"- `{names[0]}`: judged again and not in this release (reports: 1)" in text
        client = Client()
        client.force_login(world.owner)
        page = client.get(reverse("releases:release_changes", args=["living", second.pk])).content.decode()
        assert "judged again and not in this release" in page

    def test_models_of_the_previous_release_are_queued_but_endpoints_only_if_asked(
        self, first, second, world, tmp_path
    ):
        score(first, tmp_path, "A", lambda k: k < 16)
        fake = start_run(None, first, RunRequest("fake:text"))
        assert run_now(fake.job).state == JobState.DONE
        Run.objects.create(release=first, spec="endpoint:lab/model", label="paid", protocol="foilworks", model_key="k")
        again = rescore(None, second)
        assert sorted(run.label for run in again.runs) == ["A", fake.label]
        assert again.left_out == [("paid", "it is behind an endpoint, which may cost money")]
        before = Score.objects.count()
        assert all(run_now(run.job).state == JobState.DONE for run in again.runs)
        assert Score.objects.filter(model_key=fake.model_key).count() <= before
        assert rescore(None, second).runs == []

    def test_a_report_is_decided_once(self, world, first, opened):
        send(Client(), opened, name_of(first, 3))
        assert ask_again(world.owner, first, members(first, 3)) == 1
        with pytest.raises(EvaluationError, match="Select at least one item"):
            ask_again(world.owner, first, members(first, 3))
        with pytest.raises(AccessDenied):
            dismiss(world.vera, first, members(first, 3), "no")
        assert set(ItemReport.objects.values_list("state", flat=True)) == {ReportState.ASKED}
