"""Search of a project: what each role finds, where it leads, and how many statements it takes."""

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotation.models import Edit, Review
from evaluation.releases.actions.freeze_release import freeze_release
from evaluation.scoring.actions.start_run import start_run
from evaluation.scoring.run_request import RunRequest
from foilworks.core.corpus.models import Item
from foilworks.core.projects.models import Project, Role, User
from foilworks.site.navigation import PAGES
from foilworks.site.page_words import BESIDE, SUBJECTS
from foilworks.site.project_search import HITS_PER_GROUP, Results, search
from tests.annotation.world import make_world
from tests.factories import (
    make_candidate,
    make_caption,
    make_group,
    make_item,
    make_member,
    make_project,
    make_run,
    make_subtest,
    make_video,
)

pytestmark = pytest.mark.django_db
RESEARCHER_GROUPS = ("items", "captions", "videos", "runs", "scores", "releases", "members")


@pytest.fixture
def project() -> Project:
    project = make_project()
    video = make_video(project, key="kitchen-07", source_id="yt-zebra")
    item = make_item(
        make_subtest(project, name="Zebra subtest"),
        make_caption(video, "a man folds a shirt."),
        ("a man unfolds a shirt.", "a zebra folds a shirt."),
        key="shirt-1",
        state="valid",
    )
    make_run(item.subtest)
    return project


def by_slug(found: Results) -> dict[str, list[str]]:
    return {group.slug: [hit.title for hit in group.hits] for group in (*found.texts, *found.names)}


def found_by(person: User, project: Project, text: str) -> dict[str, list[str]]:
    return by_slug(search(User.objects.get(pk=person.pk), project, text))


def test_a_researcher_finds_texts_names_and_pages(project):
    owner = make_member(project, Role.RESEARCHER, name="zebediah")
    freeze_release(owner, project, name="zebra release")
    start_run(owner, project.releases.get(), RunRequest("fake:", label="zebra model"))
    found = found_by(owner, project, "zeb")
    assert set(found) == {"items", "videos", "runs", "scores", "releases", "members"}
    assert (found["items"], found["videos"]) == (["shirt-1"], ["kitchen-07"])
    assert found["releases"] == ["zebra release"]
    assert found_by(owner, project, "UNFOLDS") == {"items": ["shirt-1"]}
    assert found_by(owner, project, "folds a shirt")["captions"] == [Item.objects.get().caption.key]
    assert found_by(owner, project, "webhooks") == {"pages": ["Settings → Webhooks"]}
    run = project.generation_runs.get()
    assert found_by(owner, project, f"#{run.pk}")["runs"][0].endswith(f"#{run.pk}")
    # What a pattern of SQL would match is text here.
    assert found_by(owner, project, "%") == {}


@pytest.mark.parametrize(
    ("text", "page"),
    [
        ("roles", "People → Members"),
        ("votes", "Content → Subtests"),
        ("history", "Settings → Audit trail"),
        ("delete", "Settings → Project"),
        ("licence", "Citation and licences"),
        ("leaderboard", "Results → Releases"),
        ("prolific", "People → Crowd studies"),
    ],
)
def test_a_page_is_found_by_its_subject(project, text, page):
    assert page in found_by(make_member(project, Role.RESEARCHER), project, text)["pages"]


def test_every_page_with_subjects_is_in_a_menu():
    assert {page.name for page in PAGES} >= SUBJECTS.keys()
    assert {reverse(page.name, args=["dots"]) for page, _subjects in BESIDE} == {"/projects/dots/publication/"}


def test_an_item_shows_the_foil_that_was_searched_for(project):
    owner = make_member(project, Role.RESEARCHER)
    [items] = search(owner, project, "zebra folds").texts
    assert ("added", "zebra") in items.hits[0].segments


def test_nothing_of_another_project_is_found(project):
    elsewhere = make_project()
    owner = make_member(elsewhere, Role.RESEARCHER)
    for text in ("shirt", "kitchen", "zebra", "#1"):
        assert not {"items", "captions", "videos", "runs"} & found_by(owner, elsewhere, text).keys()


@pytest.mark.parametrize("role", [Role.ANNOTATOR, Role.REVIEWER, Role.VALIDATOR])
def test_people_who_judge_find_pages_and_no_item(project, role):
    person = make_member(project, role)
    for text in ("shirt", "kitchen", "zebra", "folds"):
        assert found_by(person, project, text) == {}
    assert found_by(person, project, "your") == {"pages": ["Work → Your queues", "Work → Your activity"]}
    assert found_by(person, project, "webhooks") == {}


def test_people_find_their_own_foils_and_reviews_and_nobody_elses(project):
    group = make_group(project.generation_runs.get(), make_caption(make_video(project), "a dog barks."))
    anna, rita = make_member(project, Role.ANNOTATOR), make_member(project, Role.REVIEWER)
    candidate = make_candidate(group, "a heron barks.")
    Edit.objects.create(group=group, person=anna, texts=["a heron barks."], idempotency_key="k")
    Review.objects.create(candidate=candidate, person=rita, decision="accept", idempotency_key="k")
    for person, slug in ((anna, "own-foils"), (rita, "own-reviews")):
        [found] = search(person, project, "HERON").texts
        assert (found.slug, [hit.text for hit in found.hits]) == (slug, ["a heron barks."])
    assert found_by(make_member(project, Role.ANNOTATOR), project, "heron") == {}
    # A validator who reviewed before finds the review, and nothing that was not theirs.
    assert found_by(make_member(project, Role.VALIDATOR), project, "heron") == {}


def test_each_group_takes_one_statement_however_much_there_is(project):
    owner = make_member(project, Role.RESEARCHER)
    video = make_video(project)
    for n in range(2 * HITS_PER_GROUP):
        make_item(Item.objects.first().subtest, make_caption(video, f"zebra {n}."), key=f"zebra {n}")
    search(owner, project, "none of this")
    with CaptureQueriesContext(connection) as captured:
        found = search(owner, project, "zebra")
    assert len(found.texts[0].hits) == HITS_PER_GROUP
    assert len(captured) == len(RESEARCHER_GROUPS)
    validator = make_member(project, Role.VALIDATOR)
    search(validator, project, "zebra")
    with CaptureQueriesContext(connection) as captured:
        search(validator, project, "zebra")
    assert len(captured) == 2


def test_no_statement_reads_a_table_of_texts_whole(project):
    if connection.vendor != "sqlite":
        pytest.skip("the plans are SQLite's")
    owner = make_member(project, Role.RESEARCHER)
    with CaptureQueriesContext(connection) as captured:
        search(owner, project, "zebra")
    texts = ("corpus_item", "corpus_caption", "corpus_video", "corpus_foil")
    plans = {}
    with connection.cursor() as cursor:
        for sql in [query["sql"] for query in captured if any(f'FROM "{table}"' in query["sql"] for table in texts)]:
            cursor.execute(f"EXPLAIN QUERY PLAN {sql}")
            plans[sql] = [row[3] for row in cursor.fetchall()]
    assert len(plans) == 3
    assert not [plan for plan in plans.values() if any(step.startswith("SCAN") or "TEMP" in step for step in plan)]


def test_the_page_leads_to_the_lists_with_the_same_search(project):
    client = Client()
    client.force_login(make_member(project, Role.RESEARCHER))
    page = client.get(reverse("search", args=[project.slug]), {"q": "a shirt"})
    shown = page.content.decode()
    for name in ("items:items", "items:captions"):
        address = f"{reverse(name, args=[project.slug])}?q=a+shirt"
        assert f'href="{address}"' in shown
        assert client.get(address).context["listing"].page.rows
    nothing = client.get(reverse("search", args=[project.slug]), {"q": "<b>nothing</b>"}).content.decode()
    assert "No results for “&lt;b&gt;nothing&lt;/b&gt;”" in nothing
    assert "autofocus" in client.get(reverse("search", args=[project.slug])).content.decode()


def test_the_key_is_on_every_page_but_where_a_slip_would_leave_a_task(project):
    client = Client()
    client.force_login(make_member(project, *Role.values))
    address = reverse("search", args=[project.slug])
    key = f'<a href="{address}" data-hotkey="/">'
    assert key in client.get(reverse("annotation:work", args=[project.slug])).content.decode()
    assert key not in client.get(address).content.decode()
    assert key not in client.get(reverse("home")).content.decode()


def test_no_key_leads_away_from_a_task():
    world = make_world()
    world.item()
    client = Client()
    client.force_login(world.vera)
    queue = reverse("annotation:queue", args=[world.project.slug, "validation"])
    assert 'data-hotkey="/"' in client.get(queue).content.decode()
    task = client.post(queue)["Location"]
    assert "/work/validation/" in task
    assert 'data-hotkey="/"' not in client.get(task).content.decode()
