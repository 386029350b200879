"""A project at a glance: all of it for researchers, for everybody else their own work."""

import pytest
from django.urls import reverse
from django.utils import timezone

from annotation.models import Slot, SlotState
from evaluation.scoring.models import Run
from foilworks.core.corpus.models import Release
from foilworks.core.corpus.rules.states import CandidateState, ItemState
from foilworks.core.jobs.models import Job
from foilworks.core.projects.models import Role
from foilworks.site.dashboard.activity import people_at_work
from tests.addresses import named
from tests.factories import (
    make_candidate,
    make_caption,
    make_group,
    make_item,
    make_member,
    make_project,
    make_run,
    make_subtest,
    make_task,
    make_video,
)
from tests.pages import read_page

pytestmark = pytest.mark.django_db


@pytest.fixture
def project():
    return make_project(is_simulated=True)


def url(project, name: str = "dashboard") -> str:
    return reverse(named(name), args=[project.slug])


def fill(project, subtest, n: int = 3) -> None:
    """n captions with a run each: one candidate rejected, one accepted, one item in validation by three."""
    for _ in range(n):
        run = make_run(subtest, job=Job.objects.create(dotted="x", target_id=1, state="running", done=1, total=4))
        group = make_group(run, make_caption(make_video(project)))
        make_candidate(group, state=CandidateState.FILTERED_OUT)
        make_candidate(group, state=CandidateState.ACCEPTED)
        item = make_item(subtest, group.caption)
        make_task(project, "validation", item.video, 3, item=item, foil=item.foils.get())


def lease(project, n: int) -> list[str]:
    """Give slots to n people for a day; return their names."""
    ends, names = timezone.now() + timezone.timedelta(days=1), []
    for slot in Slot.objects.filter(project=project, state=SlotState.FREE).order_by("pk")[:n]:
        slot.person = make_member(project, Role.VALIDATOR)
        slot.state, slot.expires_at, slot.token = SlotState.LEASED, ends, f"held{slot.pk}"
        slot.save()
        names.append(slot.person.username)
    return names


class TestResearcher:
    def test_the_funnel_counts_captions_candidates_and_items(self, owner, project):
        subtest = make_subtest(project)
        fill(project, subtest)
        make_item(subtest, state=ItemState.VALID)
        steps = {step.label: step for step in owner.get(url(project)).context["funnel"]}
        counts = {label: step.count for label, step in steps.items()}
        assert counts == {
            "Captions": 4,
            "Captions with generated foils": 3,
            "Candidates generated": 6,
            "Passed the filters": 3,
            "Submitted by an annotator": 0,
            "Accepted in review": 3,
            "Foils imported with their items": 4,
            "Main items created or imported": 4,
            "Judged by validators": 1,
            "Valid items": 1,
            "In a release": 0,
        }
        # Shares stand only between steps that count the same thing; nothing is divided by nothing.
        assert steps["Passed the filters"].percent == 50
        assert steps["Candidates generated"].percent is None
        assert steps["Judged by validators"].percent == 25
        assert steps["Valid items"].percent == 100
        assert steps["Accepted in review"].percent is None

    def test_without_an_edit_stage_no_step_waits_for_annotators(self, client):
        project = make_project(edit_stage=False)
        client.force_login(make_member(project, Role.RESEARCHER))
        labels = [step.label for step in client.get(url(project)).context["funnel"]]
        assert "Submitted by an annotator" not in labels

    def test_queues_count_slots_and_an_expired_lease_is_open(self, owner, project):
        subtest = make_subtest(project)
        item = make_item(subtest)
        task = make_task(project, "validation", item.video, 4, item=item, foil=item.foils.get())
        now = timezone.now()
        day = timezone.timedelta(days=1)
        slots = list(task.slots.order_by("index"))
        for slot, state, expires in (
            (slots[0], SlotState.DONE, None),
            (slots[1], SlotState.LEASED, now + day),
            (slots[2], SlotState.LEASED, now - day),
        ):
            slot.state, slot.expires_at, slot.token = state, expires, f"token{slot.index}"
            slot.save()
        (queue,) = owner.get(url(project)).context["queues"]
        assert (queue.open, queue.leased, queue.done, queue.total) == (2, 1, 1, 4)

    def test_items_are_counted_by_subtest_and_state(self, owner, project):
        subtest = make_subtest(project)
        for state in (ItemState.VALID, ItemState.VALID, ItemState.DISPUTED, ItemState.INVALID, ItemState.IN_VALIDATION):
            make_item(subtest, state=state)
        (row,) = owner.get(url(project)).context["subtests"]
        names = ("n_items", "n_waiting", "n_valid", "n_invalid", "n_disputed")
        assert [row.counted[name] for name in names] == [5, 1, 2, 1, 1]
        assert row.words == "2 valid, 1 in validation, 1 disputed, 1 invalid"
        assert [segment.x for segment in row.segments] == [0, 2, 3, 4, 5]

    def test_a_large_project_needs_as_many_queries_as_a_small_one(self, owner, project, django_assert_max_num_queries):
        """51 since missing validators include those who saw the other clip of an item; it may never need more."""
        seen = []
        for n in (1, 6):
            fill(project, make_subtest(project, name=f"of {n}"), n)
            with django_assert_max_num_queries(51) as queries:
                owner.get(url(project))
            seen.append(len(queries))
        assert seen[0] == seen[1]

    def test_each_stage_of_the_funnel_links_to_its_list(self, owner, project):
        make_item(make_subtest(project), state=ItemState.VALID)
        response = owner.get(url(project))
        found = [(stage.label, stage.count, stage.percent) for stage in response.context["stages"]]
        assert found == [
            ("Captions", 1, None),
            # Imported, not generated: the checklist calls this step done, too.
            ("Foils", 1, None),
            ("Accepted", 1, None),
            ("Judged", 1, 100),
            ("Valid", 1, 100),
            ("Released", 0, 0),
        ]
        names = ("corpus:videos", "generation:runs", "releases:releases")
        addresses = {reverse(name, args=[project.slug]) for name in names}
        assert {*addresses, f"{reverse('items:items', args=[project.slug])}?state=valid"} <= read_page(
            response
        ).links.keys()

    def test_the_states_of_a_subtest_link_to_its_items(self, owner, project):
        subtest = make_subtest(project)
        make_item(subtest, state=ItemState.DISPUTED)
        links = read_page(owner.get(url(project))).links
        items = reverse("items:items", args=[project.slug])
        assert {f"{items}?subtest={subtest.pk}", f"{items}?state=disputed"} <= links.keys()

    def test_one_action_is_next(self, owner, project):
        make_item(make_subtest(project), state=ItemState.DISPUTED)
        html = owner.get(url(project)).content.decode()
        assert "next: adjudicate 1 disputed item" in html
        assert reverse("annotation:disputed_items", args=[project.slug]) in html

    def test_a_queue_says_who_is_at_work_in_it(self, owner, project, django_assert_num_queries):
        item = make_item(make_subtest(project))
        make_task(project, "validation", item.video, 3, item=item, foil=item.foils.get())
        names = lease(project, 2)
        with django_assert_num_queries(1):
            assert people_at_work(project, timezone.now()) == {"validation": sorted(names)}
        response = owner.get(url(project))
        (queue,) = response.context["queues"]
        assert (queue.stage, list(queue.people), queue.leased) == ("validation", sorted(names), 2)
        assert f"at work: {queue.names}" in response.content.decode()

    def test_the_newest_runs_are_first_whatever_they_make(self, owner, project):

        made = make_run(make_subtest(project, name="Counting"), method="number")
        release = Release.objects.create(project=project, name="v1", content_hash="a", n_items=1)
        scored = Run.objects.create(release=release, spec="fake:", label="Fake")
        rows = owner.get(url(project)).context["runs"]
        assert [(row.url_name, row.pk, row.what) for row in rows] == [
            ("scoring:run", scored.pk, "v1"),
            ("generation:run", made.pk, "Counting"),
        ]

    @pytest.mark.parametrize(("state", "polls"), [("running", True), ("waiting", True), ("done", False)])
    def test_runs_are_polled_only_while_one_is_in_progress(self, owner, project, state, polls):
        make_run(make_subtest(project), job=Job.objects.create(dotted="x", target_id=1, state=state))
        page = read_page(owner.get(url(project, "dashboard_runs")))
        assert (url(project, "dashboard_runs") in page.actions, "html" in page.tags) == (polls, False)

    def test_an_empty_project_shows_its_first_step(self, owner, project):
        html = owner.get(url(project)).content.decode()
        for address in ("corpus:subtests", "generation:new_run"):
            assert reverse(address, args=[project.slug]) in html

    def test_simulated_data_is_marked(self, owner, project):
        assert "Simulated data." in owner.get(url(project)).content.decode()


class TestEverybodyElse:
    @pytest.mark.parametrize(
        ("role", "stages"),
        [("annotator", ["edit"]), ("reviewer", ["review"]), ("validator", ["validation"])],
    )
    def test_a_member_sees_their_own_work_and_no_numbers_of_the_project(self, client, project, role, stages):
        fill(project, make_subtest(project))
        client.force_login(make_member(project, role))
        response = client.get(url(project))
        assert [queue.stage for queue in response.context["work"]] == stages
        for stage in stages:
            assert reverse("annotation:queue", args=[project.slug, stage]) in response.content.decode()
        assert "funnel" not in response.context
        assert "Accepted in review" not in response.content.decode()

    def test_waiting_and_finished_tasks_are_shown(self, client, project):
        fill(project, make_subtest(project), 2)
        client.force_login(make_member(project, Role.VALIDATOR))
        (queue,) = client.get(url(project)).context["work"]
        assert (queue.available, queue.done_today, queue.done) == (2, 0, 0)

    def test_the_live_part_is_for_researchers(self, client, project):
        client.force_login(make_member(project, Role.VALIDATOR))
        assert client.get(url(project, "dashboard_runs")).status_code == 403
