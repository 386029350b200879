"""A large release: a job stores the figures of its models, another one freezes it, and pages read no items for them."""

import re

import pytest
from django.core.cache import cache
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotation.models import Vote
from annotation.queries.paid_work import figures_of
from annotation.queries.quality import validators
from evaluation.analyses.registry import OF_SCORES
from evaluation.board.leaderboard import board
from evaluation.cached_results import first_views
from evaluation.cached_results.models import CachedResult
from evaluation.releases.freezable import preview
from evaluation.releases.models import ReleaseGate
from evaluation.reports.hooks import keep_figures
from evaluation.scoring.figures import JOB, awaited, mark_of
from evaluation.scoring.queries import records_of, scored_records
from foilworks.core.corpus.models import Item, Release
from foilworks.core.jobs.models import Job, JobState
from foilworks.core.jobs.runner import run_now
from foilworks.core.projects.audit_trail import recording as audit
from foilworks.core.projects.models import Role
from foilworks.site.dashboard.pilot import pilot_of
from foilworks.site.exports.hooks import TABLES_JOB
from foilworks.site.publishing.actions.set_public_page import set_public_page
from tests.evaluation.ladders import CHAIN, make_laddered
from tests.evaluation.ranked import N, make_release, score
from tests.factories import make_member, make_project

pytestmark = pytest.mark.django_db
# Addresses of a release, which show figures of its models.
PAGES = ("releases:release", "board:leaderboard", "board:compare", "ladder:release_ladder")
OF_ITEMS = ("corpus_releaseitem", "evaluation_score", "corpus_foil")


@pytest.fixture
def owner():
    return make_member(make_project(slug="large"), Role.RESEARCHER, name="owner")


@pytest.fixture
def client(owner) -> Client:
    client = Client()
    client.force_login(owner)
    return client


@pytest.fixture
def frozen(owner) -> Release:
    """24 items, without the job that computes the tables of exports."""
    release = make_release(owner.memberships.get().project)
    Job.objects.filter(dotted=TABLES_JOB).delete()
    return release


@pytest.fixture
def release(frozen, owner, tmp_path) -> Release:
    """The same with two models of a file and one with a ladder; nothing is stored."""
    release = frozen
    score(release, tmp_path, "strong", lambda k: k > 3)
    score(release, tmp_path, "weak", lambda k: k > 9)
    names = [record["id"] for record in records_of(release)]
    make_laddered(owner, release, {"full": names, **dict.fromkeys(CHAIN, names[:5])})
    Job.objects.filter(state=JobState.WAITING).update(state=JobState.DONE)
    forget()
    return release


@pytest.fixture
def large(monkeypatch):
    monkeypatch.setattr(first_views, "LARGE", N)


def forget() -> None:
    CachedResult.objects.all().delete()
    cache.clear()


def of(release: Release, name: str) -> str:
    return reverse(name, args=[release.project.slug, release.pk])


def shown(client: Client, address: str) -> str:
    """The page without what differs between two requests."""
    body = client.get(address).content.decode()
    return re.sub(r'(nonce|value)="[^"]{20,}"', "", body[body.index("<main") : body.index("</main>")])


def run_jobs() -> None:
    for job in Job.objects.filter(state=JobState.WAITING):
        assert run_now(job).state == JobState.DONE


def test_pages_read_no_scores_but_show_the_progress_of_the_only_job(release, large, client):
    for name in PAGES:
        with CaptureQueriesContext(connection) as asked:
            page = client.get(of(release, name)).content.decode()
        assert "a job computes the results of its models" in page
        assert 'hx-get="?part=figures"' in page
        assert not [each for each in asked if "evaluation_score" in each["sql"]]
    assert Job.objects.get(state=JobState.WAITING).dotted == JOB


def test_files_and_the_public_page_wait_for_the_figures_too(release, large, client, owner):
    public = set_public_page(owner, release, is_open=True, offers_export=False, takes_scores=False)
    for name, more in (("board:leaderboard_file", ["json"]), ("ladder:release_ladder_file", ["json"])):
        answer = client.get(reverse(name, args=[release.project.slug, release.pk, *more]))
        assert (answer.status_code, b"computes the results" in answer.content) == (400, True)
    assert client.get(of(release, "releases:release_chart")).status_code == 400
    visitors = Client().get(reverse("publishing:public_leaderboard", args=[public.key])).content.decode()
    assert "results of the models are being computed" in visitors
    assert Client().get(reverse("publishing:public_release", args=[public.key])).status_code == 200


@pytest.mark.full
def test_every_page_shows_the_numbers_of_a_small_release_once_the_job_is_done(release, client, monkeypatch):
    small = {name: shown(client, of(release, name)) for name in PAGES}
    table = client.get(reverse("board:leaderboard_file", args=[release.project.slug, release.pk, "json"])).content
    forget()
    monkeypatch.setattr(first_views, "LARGE", N)
    client.get(of(release, "releases:release"))
    run_jobs()
    part = client.get(of(release, "releases:release"), {"part": "figures"})
    assert part.headers["HX-Refresh"] == "true"
    assert {name: shown(client, of(release, name)) for name in PAGES} == small
    again = client.get(reverse("board:leaderboard_file", args=[release.project.slug, release.pk, "json"])).content
    assert again == table
    assert set(CachedResult.objects.values_list("kind", flat=True)) >= {"results", "board", "ladder", "uses"}


def test_pages_of_stored_figures_read_no_rows_of_items(release, large, client):
    client.get(of(release, "releases:release"))
    run_jobs()
    for name in PAGES[1:]:
        client.get(of(release, name))
        cache.clear()
        with CaptureQueriesContext(connection) as asked:
            client.get(of(release, name))
        read = [each["sql"] for each in asked if any(table in each["sql"] for table in OF_ITEMS)]
        # Votes on the items are counted there; a comparison lists the items of one page.
        assert all(re.search(r"COUNT\(|LIMIT|takedown|position. IN \(|text_sha256. IN \(", sql) for sql in read), read


def test_new_scores_make_the_figures_incomplete_and_a_failed_job_is_not_repeated_at_once(release, large, tmp_path):
    row = awaited(release)
    run_jobs()
    assert awaited(release) is None
    before = mark_of(release)
    score(release, tmp_path, "third", lambda k: k > 6)
    assert mark_of(release) != before
    # The end of the run has stored everything.
    assert awaited(release) is None
    forget()
    row = awaited(release)
    Job.objects.filter(pk=row.job_id).update(state=JobState.FAILED, error="no disk")
    assert awaited(release).job_id == row.job_id


def test_an_erasure_that_deletes_the_results_leaves_waiting_jobs_nothing_to_do(frozen, large, client):
    awaited(frozen)
    client.get(freeze_page(frozen.project))
    forget()
    assert Job.objects.filter(state=JobState.WAITING).count() == 2
    run_jobs()
    assert not CachedResult.objects.exists()
    assert awaited(frozen).job.state == JobState.WAITING


def test_the_end_of_a_run_stores_ladders_and_analyses_of_a_large_release_only(release, monkeypatch):
    run = release.runs.first()
    keep_figures(run)
    assert not CachedResult.objects.filter(kind__in=OF_SCORES).exists()
    monkeypatch.setattr(first_views, "LARGE", N)
    keep_figures(run)
    # The items have no facts that the others need.
    kinds = set(CachedResult.objects.filter(kind__in=OF_SCORES).values_list("kind", flat=True))
    assert kinds == {"delta", "length"}
    assert CachedResult.objects.filter(kind="ladder").exists()


def test_the_plan_lacks_the_models_while_a_job_computes_them(release, large):
    assert "model_agreement" not in pilot_of(release.project).values
    run_jobs()
    assert "model_agreement" in pilot_of(release.project).values


def test_scores_read_records_without_the_origin_of_their_foils(frozen):
    whole = [{key: value for key, value in record.items() if key != "provenance"} for record in records_of(frozen)]
    assert scored_records(frozen) == whole
    assert board(frozen).uses.n_foils == N


def freeze_page(project) -> str:
    return reverse("releases:freeze", args=[project.slug])


def test_the_page_that_freezes_shows_what_its_job_found_as_a_small_project_does(release, client, monkeypatch):
    small = client.get(freeze_page(release.project))
    found = preview(release.project)
    forget()
    monkeypatch.setattr(first_views, "LARGE", N)
    with CaptureQueriesContext(connection) as asked:
        first = client.get(freeze_page(release.project)).content.decode()
    assert "A job checks the valid items" in first
    assert "Freeze release</button>" not in first
    assert not [each for each in asked if "generation_candidate" in each["sql"]]
    run_jobs()
    large = client.get(freeze_page(release.project))
    assert large.context["gate"] == small.context["gate"]
    assert large.context["ladder"].rows == found.ladder.rows
    assert large.context["ladder"].chosen == found.ladder.chosen
    fields = {name for name in large.context["form"].fields if name != "override"}
    assert fields == {name for name in small.context["form"].fields if name != "override"}
    # Three clips are too few looks to select items by their need.
    assert "needs" not in fields


def test_a_job_freezes_the_release_and_the_page_says_how_it_went(frozen, large, client):
    project = frozen.project
    client.get(freeze_page(project))
    run_jobs()
    frozen.members.first().item.delete()
    for _time in range(2):
        assert client.post(freeze_page(project), {"name": "second", "override": "x" * 20}).status_code == 302
    assert "A job freezes the release" in client.get(freeze_page(project)).content.decode()
    run_jobs()
    second = Release.objects.get(name="second")
    assert (second.n_items, second.created_by.username) == (N - 1, "owner")
    assert ReleaseGate.objects.filter(release=second).exists()
    page = client.get(freeze_page(project)).content.decode()
    assert reverse("releases:release", args=[project.slug, second.pk]) in page
    client.post(freeze_page(project), {"name": "second"})
    job = Job.objects.exclude(dotted=TABLES_JOB).get(state=JobState.WAITING)
    assert run_now(job).state == JobState.DONE  # The content is the same, so it is the same release.


def test_a_change_of_the_project_lets_people_check_its_items_again(frozen, large, client, owner):
    client.get(freeze_page(frozen.project))
    run_jobs()
    assert "Check again" not in client.get(freeze_page(frozen.project)).content.decode()
    audit.record(audit.event(frozen.project, owner, "vote", frozen.project))
    assert "Check again" in client.get(freeze_page(frozen.project)).content.decode()
    assert client.post(freeze_page(frozen.project), {"check": "1"}).status_code == 302
    assert client.get(freeze_page(frozen.project), {"part": "jobs"}).headers.get("HX-Refresh") is None
    run_jobs()
    assert client.get(freeze_page(frozen.project), {"part": "jobs"}).headers["HX-Refresh"] == "true"
    assert "Check again" not in client.get(freeze_page(frozen.project)).content.decode()


def vote(release: Release, n: int) -> None:
    """Two people judge n of the items."""
    people = [make_member(release.project, Role.VALIDATOR, name=f"v{k}-{n}") for k in range(2)]
    Vote.objects.bulk_create(
        Vote(item=item, foil=item.foils.get(), person=person, choice="caption", idempotency_key=f"{item.pk} {n}")
        for item in Item.objects.filter(subtest__kind="main")[:n]
        for person in people
    )


def test_tables_of_people_ask_the_same_statements_for_any_number_of_votes(frozen):
    for read, total in ((validators, lambda rows: sum(row.judged for row in rows)), (figures_of, len)):
        counts = []
        for n in (2, 9):
            vote(frozen, n) if read is validators else None
            with CaptureQueriesContext(connection) as asked:
                assert total(read(frozen.project))
            counts.append(len(asked))
        assert counts[0] == counts[1]
