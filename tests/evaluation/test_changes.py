"""A release and its successor: what changed, who is asked what again, and the scores written out and read back."""

import io
import json

import numpy as np
import pytest
from django.urls import reverse

from evaluation.errors import EvaluationError
from evaluation.metrics import mc, pairwise, rcad
from evaluation.releases.actions.freeze_release import freeze_release
from evaluation.releases.changes import changes, previous_of, shifts
from evaluation.score_files.score_writers import WRITERS
from evaluation.score_files.scores import read_choices, read_pairs
from evaluation.scoring import jobs
from evaluation.scoring.actions.start_run import start_run
from evaluation.scoring.models import Score
from evaluation.scoring.queries import release_scores, run_results
from evaluation.scoring.run_request import RunRequest
from foilworks.core.corpus.models import Foil, Item, Video
from foilworks.core.corpus.rules.states import ItemState
from foilworks.core.jobs.models import JobState
from foilworks.core.jobs.runner import run_now
from foilworks.core.projects.models import Role
from tests import factories
from tests.evaluation.ranked import make_release, number_of, score
from tests.pages import read_page

pytestmark = pytest.mark.django_db


@pytest.fixture
def project():
    return factories.make_project(slug="ranked")


@pytest.fixture
def first(project):
    return make_release(project)


def item_of(release, k) -> Item:
    return next(member.item for member in release.members.all() if number_of(member.record) == k)


def named(release, item) -> str:
    return release.members.get(item=item).record["id"]


@pytest.fixture
def second(project, first):
    """The successor: item 0 has another foil, item 1 is retracted, one item is new, item 2's facts changed."""
    Foil.objects.filter(item=item_of(first, 0)).update(text="a ball stands 0")
    Item.objects.filter(pk=item_of(first, 1).pk).update(state=ItemState.RETRACTED)
    caption = item_of(first, 2).caption
    caption.facts = {"count": 2}
    caption.save()
    subtest = item_of(first, 3).subtest
    factories.make_item(
        subtest,
        factories.make_caption(factories.make_video(project), "a ball moves 99"),
        ("a ball rests 99",),
        state=ItemState.VALID,
    )
    return freeze_release(None, project)


def fake(release):
    run = start_run(None, release, RunRequest("fake:text"))
    assert run_now(run.job).state == JobState.DONE
    return run


def test_added_removed_and_changed_items(first, second):
    assert previous_of(second) == first
    assert previous_of(first) is None
    found = changes(first, second)
    text = {
        member.record["id"]: member.record["caption"] for release in (first, second) for member in release.members.all()
    }
    assert [text[name] for name in found.added] == ["a ball moves 99"]
    assert [text[name] for name in found.removed] == ["a ball moves 1"]
    assert [text[name] for name in found.edited] == ["a ball moves 0"]
    assert [text[name] for name in found.described] == ["a ball moves 2"]
    assert found.n_same == 24 - 3


def test_labels_of_a_clip_and_fields_of_a_pair_do_not_affect_scores(project, first):
    paired = item_of(first, 5)
    clip = Video.objects.filter(pk=item_of(first, 0).video_id)
    clip.update(class_label="rolling", category="toys", split="test", url="https://example.org/0.mp4", movie="m")
    Item.objects.filter(pk=paired.proficiency_item_id).update(extra={"note": 1})
    Video.objects.filter(pk=item_of(first, 3).video_id).update(start_time=1.0)
    found = changes(first, freeze_release(None, project))
    assert set(found.described) == {named(first, item_of(first, 0)), named(first, paired)}
    assert found.edited == [named(first, item_of(first, 3))]
    assert found.n_same == 24 - len(found.described) - 1


def test_a_pair_that_is_no_longer_valid_is_not_scored(project, first):
    paired = item_of(first, 5)
    Item.objects.filter(pk=paired.proficiency_item_id).update(state=ItemState.INVALID)
    found = changes(first, freeze_release(None, project))
    assert found.edited == [named(first, paired)]


def test_only_edited_or_added_items_are_scored_again(first, second, monkeypatch):
    fake(first)
    before = Score.objects.count()
    asked = []
    real = jobs.score_pairs

    def spy(adapter, requests, **options):
        requests = list(requests)
        asked.extend(text for _clip, texts in requests for text in texts)
        return real(adapter, requests, **options)

    monkeypatch.setattr(jobs, "score_pairs", spy)
    fake(second)
    assert sorted(asked) == ["a ball moves 99", "a ball rests 99", "a ball stands 0"]
    assert Score.objects.count() == before + 3
    # Taken back: the release before stands as it was, and nothing is asked.
    asked.clear()
    fake(first)
    assert asked == []


def test_a_model_keeps_its_score_on_unchanged_items(first, second):
    fake(first), fake(second)
    (row,) = shifts(first, second)
    assert row.same_before == row.same_after
    # P+T stands over the 12 items with a pair, of which one was edited and one retracted.
    assert (row.column, row.n_before, row.n_after, row.n_same) == ("P+T", 12, 11, 10)
    assert row.before == run_results(first.runs.get(), draws=10)["overall"]["P+T"]
    assert row.after == run_results(second.runs.get(), draws=10)["overall"]["P+T"]


def test_the_page_shows_what_changed(client, project, first, second):
    client.force_login(factories.make_member(project, Role.RESEARCHER))
    fake(first), fake(second)
    html = client.get(reverse("releases:release_changes", args=[project.slug, second.pk])).content.decode()
    read_page(html).check("Edited (1)", "Models are queried only for the changed texts")
    assert "fake/text" in html or "text" in html
    alone = client.get(reverse("releases:release_changes", args=[project.slug, first.pk])).content.decode()
    assert "There is no earlier release to compare it with" in alone
    other = make_release(factories.make_project())
    path = reverse("releases:release_changes", args=[project.slug, second.pk])
    assert client.get(f"{path}?from={other.pk}").status_code == 404
    assert client.get(f"{path}?from=x").status_code == 200


class TestWritten:
    @pytest.fixture
    def run(self, first, tmp_path):
        return score(first, tmp_path, "m", lambda k: k % 3 == 0, lambda k: k % 2 == 0)

    def test_the_pairs_and_vilma_formats_give_equal_results(self, run, tmp_path):
        rows, _missing = release_scores(run)
        expected = run_results(run, draws=10)["overall"]
        path = tmp_path / "out.jsonl"
        path.write_bytes(WRITERS["pairs"][2](rows))
        assert pairwise.compute(read_pairs([path]), draws=10)["overall"] == expected
        main, able = tmp_path / "m.json", tmp_path / "p.json"
        main.write_bytes(WRITERS["vilma"][2](rows))
        able.write_bytes(WRITERS["vilma-proficiency"][2](rows))
        again = pairwise.compute(read_pairs([main], [able]), draws=10)["overall"]
        assert {name: again[name] for name in ("T", "P", "P+T", "n")} == {
            name: expected[name] for name in ("T", "P", "P+T", "n")
        }

    def test_the_rcad_mc_and_utd_formats_agree_on_the_main_items(self, run, tmp_path):
        rows, _missing = release_scores(run)
        right = run_results(run, draws=10)["overall"]["T_all"]
        for form in ("rcad-csv", "rcad-npy", "mc"):
            path = tmp_path / f"out.{WRITERS[form][1]}"
            path.write_bytes(WRITERS[form][2](rows))
            assert mc.compute(read_choices(path), draws=10)["accuracy"] == right
            if form != "mc":
                assert rcad.compute(read_choices(path), draws=10)["R@1"] == right
        with pytest.raises(EvaluationError, match="predictions have no ranks"):
            rcad.compute(read_choices(path), draws=10)
        flags = [line.split(",")[2] for line in WRITERS["utd"][2](rows).decode().splitlines()[1:]]
        assert flags.count("1") / len(flags) == right

    def test_rows_of_another_width_are_not_in_the_array(self, run):
        rows, _missing = release_scores(run)
        wide = [*rows[:3], type(rows[0])(**{**vars(rows[3]), "foils": (0.1, 0.2)})]
        assert np.load(io.BytesIO(WRITERS["rcad-npy"][2](wide))).shape == (3, 2)
        assert np.load(io.BytesIO(WRITERS["rcad-npy"][2]([]))).shape == (0, 1)

    def test_files_are_downloaded_from_the_page(self, client, project, run):
        client.force_login(factories.make_member(project, Role.RESEARCHER))
        answer = client.get(reverse("scoring:run_scores", args=[project.slug, run.pk, "vilma"]))
        assert answer["Content-Disposition"] == f'attachment; filename="ranked-run-{run.pk}-vilma.json"'
        assert len(json.loads(answer.content)) == 24
        assert client.get(reverse("scoring:run_scores", args=[project.slug, run.pk, "exe"])).status_code == 404
