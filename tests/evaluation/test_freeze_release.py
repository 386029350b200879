"""A release is what was valid, frozen."""

import json

import pytest
from django.core.management import call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext

from evaluation.errors import EvaluationError
from evaluation.releases.actions.freeze_release import freeze_release
from evaluation.releases.snapshot import frozen_items
from foilworks.core.corpus.models import Foil, Item, Release, ReleaseItem, Subtest
from foilworks.core.corpus.release_records import hash_of
from foilworks.core.corpus.rules.states import CandidateState, FoilVerdict, ItemState
from foilworks.core.projects.errors import AccessDenied
from foilworks.core.projects.models import AuditEvent
from foilworks.core.projects.pseudonyms import pseudonym
from generation.models import FilterScore
from tests import factories

pytestmark = pytest.mark.django_db
SHA = "ab" * 32


@pytest.fixture
def project():
    project = factories.make_project(slug="frozen")
    simple = factories.make_subtest(project, name="nouns", kind=Subtest.Kind.PROFICIENCY)
    main = factories.make_subtest(project, name="verbs", test="actions")
    video = factories.make_video(project, key="clip", sha256=SHA, source_dataset="d", source_id="s", start_time=1.0)
    noun = factories.make_caption(video, "a man")
    easy = factories.make_item(simple, noun, ("a cat",), key="e", state=ItemState.VALID)
    caption = factories.make_caption(video, "a man folds a shirt.")
    factories.make_item(main, caption, key="v", state=ItemState.VALID, proficiency_item=easy, extra={"note": 1})
    factories.make_item(main, key="i", state=ItemState.INVALID)
    return project


@pytest.fixture
def researcher(project):
    return factories.make_member(project, "researcher")


def test_valid_items_are_frozen_with_their_proficiency_pair(project, researcher):
    release = freeze_release(researcher, project, name="v1")
    (member,) = ReleaseItem.objects.filter(release=release)
    record = member.record
    assert (record["id"], record["subtest"], record["test"]) == ("verbs:v", "verbs", "actions")
    assert (record["caption"], record["foils"]) == ("a man folds a shirt.", ["a man unfolds a shirt."])
    assert record["proficiency"] == {
        "id": "nouns:e",
        "caption": "a man",
        "foils": ["a cat"],
        "valid": True,
        "extra": {},
    }
    video = record["video"]
    assert (video["key"], video["sha256"], video["start_time"]) == ("clip", SHA, 1.0)
    assert record["extra"] == {"note": 1}
    assert release.n_items == 1
    assert release.content_hash == hash_of([record])
    event = AuditEvent.objects.get(action="evaluation.freeze_release")
    assert (event.actor, event.details["content_hash"]) == (researcher, release.content_hash)


def test_provenance_names_method_seed_filters_and_a_pseudonym(project, researcher):
    author = factories.make_member(project, "annotator", name="secret-name")
    foil = Foil.objects.get(item__key="v")
    group = factories.make_group(factories.make_run(Subtest.objects.get(name="verbs"), params={"k": 1}))
    parent = factories.make_candidate(group, text="a suggestion", state=CandidateState.SUPERSEDED)
    made = factories.make_candidate(
        group, text=foil.text, state=CandidateState.ACCEPTED, foil=foil, author=author, parent=parent, seed=7
    )
    FilterScore.objects.create(
        run=made.group.run, candidate=made, filter="minimal_edit", filter_version="1", score=1.0, passed=True
    )
    release = freeze_release(researcher, project)
    (provenance,) = ReleaseItem.objects.get(release=release).record["provenance"]
    assert (provenance["method"], provenance["seed"], provenance["params"]) == ("fake", 7, {"k": 1})
    assert provenance["author"] == pseudonym(project, author.pk)
    assert provenance["parent"]["text"] == "a suggestion"
    assert provenance["filters"] == [{"filter": "minimal_edit", "version": "1", "score": 1.0, "passed": True}]
    assert "secret-name" not in json.dumps(provenance)


def test_the_same_content_is_the_same_release(project, researcher):
    first = freeze_release(researcher, project, name="v1")
    assert freeze_release(researcher, project, name="v2") == first
    assert Release.objects.count() == 1


def test_different_content_has_a_different_hash_and_keeps_the_first_release(project, researcher):
    first = freeze_release(researcher, project)
    before = ReleaseItem.objects.get(release=first).record
    Foil.objects.filter(item__key="v").update(text="a man burns a shirt.")
    second = freeze_release(researcher, project)
    assert second.content_hash != first.content_hash
    assert (first.name, second.name) == ("release 1", "release 2")
    assert ReleaseItem.objects.get(release=first).record == before


def test_votes_and_states_do_not_affect_the_hash(project, researcher):
    first = freeze_release(researcher, project)
    Item.objects.filter(key="v").update(unanimous=True)
    assert freeze_release(researcher, project) == first


def test_invalid_foils_drop_out_where_enough_are_valid(project, researcher):
    subtest = factories.make_subtest(project, name="many", foils_per_item=3, valid_when=Subtest.ValidWhen.ENOUGH)
    item = factories.make_item(subtest, foils=("x", "y", "z"), state=ItemState.VALID)
    for position, verdict in enumerate((FoilVerdict.VALID, FoilVerdict.INVALID, FoilVerdict.VALID)):
        Foil.objects.filter(item=item, position=position).update(verdict=verdict)
    release = freeze_release(researcher, project)
    record = ReleaseItem.objects.get(release=release, item=item).record
    assert (record["foils"], record["foil_positions"]) == (["x", "z"], [0, 2])


def test_only_a_researcher_freezes(project):
    validator = factories.make_member(project, "validator")
    with pytest.raises(AccessDenied):
        freeze_release(validator, project)
    assert not Release.objects.exists()


def test_a_taken_name_and_missing_valid_items_are_reported(project, researcher):
    freeze_release(researcher, project, name="v1")
    Foil.objects.filter(item__key="v").update(text="else")
    with pytest.raises(EvaluationError, match="'v1' with different content"):
        freeze_release(researcher, project, name="v1")
    Item.objects.update(state=ItemState.INVALID)
    with pytest.raises(EvaluationError, match="No item is valid yet"):
        freeze_release(researcher, project)


def test_the_number_of_queries_does_not_grow(project):
    def queries():
        with CaptureQueriesContext(connection) as seen:
            frozen_items(project)
        return len(seen)

    few = queries()
    subtest = Subtest.objects.get(name="verbs")
    group = factories.make_group(factories.make_run(subtest))
    for _ in range(8):
        item = factories.make_item(subtest)
        factories.make_candidate(group, foil=item.foils.get())
    assert queries() <= few + 2  # filter scores and runs are asked for once where there are candidates


def test_rows_are_read_in_batches_and_give_the_same_records(project, monkeypatch):
    subtest = Subtest.objects.get(name="verbs")
    group = factories.make_group(factories.make_run(subtest))
    for _ in range(3):
        factories.make_candidate(group, foil=factories.make_item(subtest).foils.get())
    at_once = list(frozen_items(project))
    monkeypatch.setattr("evaluation.releases.snapshot.ROWS_PER_QUERY", 2)
    assert list(frozen_items(project)) == at_once
    assert len(at_once) == 5


def test_the_command_prints_the_hash(project, capsys):
    call_command("release", "--project", "frozen", "--name", "v1", "--json")
    got = json.loads(capsys.readouterr().out)
    release = Release.objects.get()
    assert (got["hash"], got["id"], got["n_items"]) == (release.content_hash, release.pk, 1)
    assert len(got["hash"]) == 64
    with pytest.raises(SystemExit) as left:
        call_command("release", "--project", "nowhere")
    assert left.value.code == 1
    assert "--project: project 'nowhere' not found; choose one of: frozen" in capsys.readouterr().err
