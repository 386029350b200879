"""`foilworks subtest`: creating subtests with their votes, linking proficiency, collecting votes on published sets."""

import json

import pytest
from django.core.management import call_command

from annotation.actions.settings.link_proficiency import link_proficiency
from annotation.errors import AnnotationError
from foilworks.core.corpus.models import Item, Subtest
from foilworks.core.corpus.rules.states import ItemState
from foilworks.core.projects.errors import AccessDenied
from foilworks.core.projects.models import AuditEvent, Role
from foilworks.site.imports.store import import_records
from foilworks.site.invariants.registry import violations
from tests.factories import make_caption, make_item, make_member, make_project, make_subtest, make_video

pytestmark = pytest.mark.django_db


@pytest.fixture
def run(project, capsys):
    """The JSON of `foilworks subtest ARGUMENTS --project …`, or the line that it ends with."""

    def go(*arguments):
        try:
            call_command("subtest", *map(str, arguments), "--project", project.slug, "--json")
        except SystemExit:
            return capsys.readouterr().err.strip()
        return json.loads(capsys.readouterr().out)

    return go


def test_a_subtest_is_created_with_its_votes_and_its_proficiency(run, project):
    objects = run("create", "objects", "--kind", "proficiency")
    assert (objects["votes_wanted"], objects["votes_needed"], objects["kind"]) == (1, 1, "proficiency")
    made = run("create", "actions", "--votes-wanted", 5, "--proficiency", "objects", "--test", "motion")
    subtest = Subtest.objects.get(pk=made["id"])
    assert (subtest.votes_wanted, subtest.votes_needed, subtest.foils_per_item) == (5, 3, 1)
    assert (subtest.proficiency_subtest.name, subtest.test, subtest.project) == ("objects", "motion", project)
    assert run("create", "retrieval", "--changes", "action")["foils_per_item"] == 5
    unvoted = run("create", "unvoted", "--votes-wanted", 0)
    assert (unvoted["votes_wanted"], unvoted["votes_needed"]) == (0, 0)
    assert AuditEvent.objects.filter(action="corpus.create_subtest", actor=None).count() == 4


def test_a_subtest_is_created_that_stops_early_and_asks_skilled_people_for_more_votes(run):
    made = run("create", "actions", "--stop-early", "--votes-max", 5, "--skilled-first")
    assert (made["stop_early"], made["full_share"], made["votes_max"], made["skilled_first"]) == (True, 0.1, 5, True)
    assert run("create", "objects", "--stop-early", "--full-share", 0)["full_share"] == 0
    assert run("create", "counts")["full_share"] == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("create", "there"), "name: A subtest with this name already exists in this project. Choose another name."),
        (("create", "x", "--votes-wanted", 1, "--votes-needed", 2), "votes_needed: The required votes are more than"),
        (("create", "x", "--votes-wanted", 100), "votes_wanted: "),
        (("create", "x", "--full-share", 0.2), "--full-share: it is used only if votes stop early; add --stop-early"),
        (("create", "x", "--skilled-first"), "--skilled-first: no pair gets more votes; add --votes-max, such as 5"),
        (("create", "x", "--votes-max", 2), "votes_max: 2 is not more than the 3 votes per pair. Enter a larger"),
        (("create", "x", "--foils", 0), "foils_per_item: An item needs at least one foil."),
        (("create", "x", "--proficiency", "y"), "--proficiency: subtest 'y' not found; choose one of: there"),
        (("link", "there", "--proficiency", "there"), "'there' is main and 'there' is main. Link a main subtest"),
        (("link", "there", "--proficiency", "x"), "--proficiency: subtest 'x' not found; choose one of: there"),
        (("collect-votes", "there"), "No item that was imported as published"),
    ],
)
def test_a_wrong_option_gives_one_line(run, project, arguments, said):
    make_subtest(project, name="there")
    assert said in run(*arguments)


def test_linking_pairs_the_items_of_a_video_by_their_caption_first(run, project):
    main, pair = make_subtest(project, name="actions"), make_subtest(project, name="objects", kind="proficiency")
    video = make_video(project)
    captions = [make_caption(video, f"a ball rolls {n}.") for n in range(2)]
    items = [make_item(main, caption) for caption in captions]
    alone = make_item(main)
    easy = [make_item(pair, make_caption(video, "a ball.")), make_item(pair, captions[1])]
    assert run("link", "actions", "--proficiency", "objects")["linked_items"] == 2
    linked = dict(Item.objects.filter(subtest=main).values_list("pk", "proficiency_item"))
    assert linked == {items[0].pk: easy[0].pk, items[1].pk: easy[1].pk, alone.pk: None}
    assert run("link", "actions", "--proficiency", "objects")["linked_items"] == 0
    make_subtest(project, name="colours", kind="proficiency")
    assert "'actions' is already linked to 'objects'" in run("link", "actions", "--proficiency", "colours")
    with pytest.raises(AnnotationError, match="of one project"):
        link_proficiency(None, main, make_subtest(make_project(), kind="proficiency"))
    with pytest.raises(AccessDenied):
        link_proficiency(make_member(project, Role.REVIEWER), main, pair)


def test_votes_are_collected_on_a_sample_that_its_seed_draws(run, project, tmp_path):
    path = tmp_path / "shapes.csv"
    rows = [f"{n},https://clips.example/{n}.mp4,a ball rolls {n}.,a cube rolls {n}." for n in range(9)]
    path.write_text("\n".join(["id,url,caption,foil", *rows]) + "\n", encoding="utf-8")
    import_records(project, None, "csv", path, as_published=True)
    project.videos.update(media_state="elsewhere")
    assert run("collect-votes", "shapes", "--sample", 3, "--seed", 7)["asked"] == 3
    asked = set(Item.objects.filter(state=ItemState.IN_VALIDATION).values_list("key", flat=True))
    assert len(asked) == 3
    assert run("collect-votes", "shapes")["asked"] == 6
    assert not Item.objects.exclude(state=ItemState.IN_VALIDATION).exists()
    assert violations() == []
