"""Lists and pages of videos and subtests."""

import pytest
from django.urls import reverse

from foilworks.core.corpus.models import Subtest
from foilworks.core.corpus.video_files.player import player_clip
from foilworks.core.projects.models import AuditEvent, Role
from tests.factories import make_caption, make_item, make_member, make_project, make_subtest, make_video

pytestmark = pytest.mark.django_db


@pytest.fixture
def project():
    return make_project()


@pytest.fixture
def owner(client, project):
    client.force_login(make_member(project, Role.RESEARCHER))
    return client


def keys(response) -> list[str]:
    return [video.key for video in response.context["listing"].page.rows]


def test_videos_are_narrowed_by_file_split_and_words(owner, project):
    make_video(project, key="a", media_state="missing", split="train")
    make_caption(make_video(project, key="b", split="test"), "two dogs run in a park.")
    make_video(project, key="c", media_state="broken")
    make_video(make_project(), key="of another project")
    url = reverse("corpus:videos", args=[project.slug])
    assert keys(owner.get(url)) == ["a", "b", "c"]
    assert keys(owner.get(url, {"media": "missing"})) == ["a"]
    assert keys(owner.get(url, {"split": "test"})) == ["b"]
    assert keys(owner.get(url, {"q": "dogs"})) == ["b"]
    assert keys(owner.get(url, {"media": "nonsense"})) == ["a", "b", "c"]


def test_counts_are_not_multiplied_by_the_joins(owner, project):
    video = make_video(project)
    captions = [make_caption(video, f"caption {n}.") for n in range(3)]
    subtest = make_subtest(project)
    for caption in captions[:2]:
        make_item(subtest, caption)
    (row,) = owner.get(reverse("corpus:videos", args=[project.slug]), {"q": "caption"}).context["listing"].page.rows
    assert (row.n_captions, row.n_items) == (3, 2)


def test_a_long_list_has_pages_and_as_many_queries_as_a_short_one(owner, project, django_assert_num_queries):
    url = reverse("corpus:videos", args=[project.slug])
    for n in range(60):
        make_video(project, key=f"clip-{n:03}")
        if n in (1, 59):
            # Session, person, project, roles, rows, count.
            with django_assert_num_queries(7):
                owner.get(url)
    assert len(keys(owner.get(url))) == 25
    following = owner.get(url).context["listing"].page.next
    assert keys(owner.get(url, {"after": following}))[0] == "clip-025"
    assert keys(owner.get(url, {"after": "nonsense"}))[0] == "clip-000"
    assert keys(owner.get(url, {"sort": "key-down"}))[0] == "clip-059"


def test_a_video_shows_its_captions_items_and_foils_escaped(owner, project):
    video = make_video(project)
    caption = make_caption(video, "a <script>alert(1)</script> man.", flagged_false=True)
    make_item(make_subtest(project, name="Direction"), caption, ("a <b>woman</b>.",))
    html = owner.get(reverse("corpus:video", args=[project.slug, video.pk])).content.decode()
    assert "a &lt;script&gt;alert(1)&lt;/script&gt; man." in html
    assert "a &lt;b&gt;woman&lt;/b&gt;." in html
    assert "Direction" in html
    assert "This caption may be wrong" in html


def test_a_video_with_many_captions_costs_as_many_queries_as_one(owner, project, django_assert_num_queries):
    video, subtest = make_video(project), make_subtest(project)
    for n in range(8):
        make_item(subtest, make_caption(video, f"caption {n}."))
        if n in (0, 7):
            # Session, person, project, roles, video, captions, items with subtest, foils.
            with django_assert_num_queries(8):
                owner.get(reverse("corpus:video", args=[project.slug, video.pk]))


@pytest.mark.parametrize(("state", "words"), [("missing", "The video file is missing"), ("broken", "no video stream")])
def test_a_video_that_cannot_play_says_why(owner, project, state, words):
    video = make_video(project, media_state=state, media_error="no video stream")
    assert words in owner.get(reverse("corpus:video", args=[project.slug, video.pk])).content.decode()


def test_the_player_gets_the_trim_and_never_an_unsafe_address(settings):
    settings.MEDIA_HOSTS = ("https://example.org",)
    project = make_project()
    trimmed = make_video(project, start_time=0.5, end_time=1.5, url="https://example.org/a.mp4", media_state="missing")
    clip = player_clip(trimmed)
    assert (clip["src"], clip["start"], clip["end"]) == ("https://example.org/a.mp4", 0.5, 1.5)
    for unsafe in (
        "javascript:alert(1)",
        "http://example.org/a.mp4",
        "https://example.org.evil.org/a.mp4",
        "https://user@example.org/a.mp4",
        "https://example.org:444/a.mp4",
        "//example.org/a.mp4",
    ):
        assert player_clip(make_video(project, url=unsafe))["src"] == ""
    ticks = make_video(project, start_time=9000, end_time=18000, time_unit="pts")
    assert (player_clip(ticks)["start"], player_clip(ticks)["end"]) == (None, None)


@pytest.mark.parametrize(("unit", "shown"), [("sec", "9.00–18.00 s"), ("pts", "9–18 pts"), ("frames", "9–18 frames")])
def test_the_unit_of_a_trim_is_shown(owner, project, unit, shown):
    clip = make_video(project, start_time=9, end_time=18, time_unit=unit)
    listed = owner.get(reverse("corpus:videos", args=[project.slug])).content.decode()
    assert f"<span> {shown} </span>" in " ".join(listed.split())
    assert f"9–18 {unit}<" in owner.get(reverse("corpus:video", args=[project.slug, clip.pk])).content.decode()


RULES = {
    "name": "Counting",
    "kind": "main",
    "foils_per_item": "5",
    "votes_wanted": "3",
    "votes_needed": "2",
    "valid_when": "enough",
    "foils_enough": "4",
}


def test_a_subtest_is_made_with_its_rules(owner, project):
    simpler = make_subtest(project, kind=Subtest.Kind.PROFICIENCY)
    url = reverse("corpus:subtests", args=[project.slug])
    assert owner.post(url, {**RULES, "proficiency_subtest": simpler.pk}).status_code == 302
    made = Subtest.objects.get(name="Counting")
    assert (made.project, made.foils_per_item, made.foils_enough, made.proficiency_subtest) == (project, 5, 4, simpler)
    assert AuditEvent.objects.get().action == "corpus.create_subtest"


@pytest.mark.parametrize(
    ("wrong", "field"),
    [({"votes_needed": "4"}, "votes_needed"), ({"foils_per_item": "0"}, "foils_per_item"), ({"name": "taken"}, "name")],
)
def test_rules_that_cannot_hold_are_said_beside_their_field(owner, project, wrong, field):
    make_subtest(project, name="taken")
    response = owner.post(reverse("corpus:subtests", args=[project.slug]), {**RULES, **wrong})
    assert response.status_code == 422
    assert list(response.context["form"].errors) == [field]
    assert Subtest.objects.count() == 1


def test_a_proficiency_subtest_of_another_project_is_not_offered(owner, project):
    foreign = make_subtest(make_project(), kind=Subtest.Kind.PROFICIENCY)
    response = owner.post(reverse("corpus:subtests", args=[project.slug]), {**RULES, "proficiency_subtest": foreign.pk})
    assert "proficiency_subtest" in response.context["form"].errors


def test_the_form_says_until_when_votes_can_be_changed(owner, project):
    form = owner.get(reverse("corpus:subtests", args=[project.slug])).context["form"]
    assert "until someone has seen a pair" in str(form.fields["votes_needed"].help_text)


def test_a_first_subtest_asks_for_four_things_and_unfolds_a_field_with_an_error(owner, project):
    page = reverse("corpus:subtests", args=[project.slug])
    form = owner.get(page).context["form"]
    assert [field.name for field in form.main_fields] == ["name", "kind", "votes_wanted", "votes_needed"]
    assert len(form.main_fields) + len(form.more_fields) == len(form.fields)
    wrong = owner.post(page, {**RULES, "foils_enough": "0"})
    assert wrong.context["form"].has_more_errors
    assert '<details class="disclosure" open>' in wrong.content.decode()


def test_a_project_without_captions_is_led_from_its_subtest_to_the_import(owner, project):
    page = reverse("corpus:subtests", args=[project.slug])
    to_import = f'<a class="btn btn-small" href="{reverse("imports:new_import", args=[project.slug])}">'
    assert to_import not in owner.get(page).content.decode()
    make_subtest(project)
    assert to_import in owner.get(page).content.decode()


def test_subtests_are_listed_with_counts(owner, project):
    subtest = make_subtest(project)
    make_item(subtest, state="valid")
    make_item(subtest)
    (row,) = owner.get(reverse("corpus:subtests", args=[project.slug])).context["subtests"]
    assert (row.n_items, row.n_valid) == (2, 1)


@pytest.mark.parametrize(("changes", "foils"), [("action", 5), ("", 1)])
def test_counterfactuals_of_an_action_are_five_by_default(owner, project, changes, foils):
    rules = {**RULES, "foils_per_item": "", "foils_enough": "1", "changes": changes}
    assert owner.post(reverse("corpus:subtests", args=[project.slug]), rules).status_code == 302
    made = Subtest.objects.get()
    assert (made.changes, made.foils_per_item) == (changes, foils)
