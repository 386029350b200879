"""Scores of models that ran elsewhere: every form that is written can be brought back; what does not fit is said."""

import json
from dataclasses import replace

import numpy as np
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from evaluation.releases.actions.freeze_release import freeze_release
from evaluation.score_files.score_readers import FORMS, read_given
from evaluation.score_files.score_writers import WRITERS
from evaluation.scoring.actions.start_run import start_run
from evaluation.scoring.models import Run, Score
from evaluation.scoring.queries import records_of, release_scores, run_results
from evaluation.scoring.run_request import RunRequest
from foilworks.core.corpus.models import Foil, Item
from foilworks.core.jobs.models import JobState
from foilworks.core.jobs.runner import run_now
from foilworks.core.projects.models import Role
from foilworks.core.text.errors import ActionableError
from tests import factories
from tests.evaluation.ranked import make_release, number_of, score

pytestmark = pytest.mark.django_db

BROUGHT = {"pairs": "pairs", "vilma": "vilma", "rcad-csv": "rcad-csv", "rcad-npy": "rcad-npy", "mc": "mc", "utd": "utd"}


@pytest.fixture
def project():
    return factories.make_project(slug="ranked")


@pytest.fixture
def release(project):
    return make_release(project)


@pytest.fixture
def owner(client, project):
    client.force_login(factories.make_member(project, Role.RESEARCHER, name="owner"))
    return client


@pytest.fixture
def run(release, tmp_path):
    return score(release, tmp_path, "m", lambda k: k % 3 == 0, lambda k: k % 2 == 0)


def bring(owner, release, name, content, form="auto", ends=JobState.DONE, **more):
    """The run of what was sent by the page, stored."""
    address = reverse("scoring:bring_scores", args=["ranked", release.pk])
    sent = {"scores": SimpleUploadedFile(name, content), "form": form, "protocol": "foilworks", **more}
    answer = owner.post(address, sent)
    assert answer.status_code == 302, answer.context["form"].errors
    made = Run.objects.order_by("pk").last()
    assert run_now(made.job).state == ends
    made.refresh_from_db()
    return made


@pytest.mark.parametrize("form", BROUGHT)
@pytest.mark.parametrize("named", [True, False], ids=["named", "guessed"])
def test_every_format_can_be_imported_again_with_equal_answers(owner, release, run, form, named):
    rows, _missing = release_scores(run)
    expected = run_results(run, draws=10)["overall"]
    _label, ending, write = WRITERS[form]
    again = bring(owner, release, f"other.{ending}", write(rows), form if named else "auto")
    got = run_results(again, draws=10)
    assert (got["overall"]["T_all"], got["overall"]["n_all"]) == (expected["T_all"], 24)
    assert again.label == "other"
    assert not {"not_in_file", "not_in_release"} & set(again.problems)


def as_perplexities(rows):
    """Rows of which lower is better, with the same answers."""
    return [
        replace(
            row,
            higher_is_better=False,
            kind="perplexity",
            caption=10 - row.caption,
            foils=tuple(10 - foil for foil in row.foils),
            proficiency_caption=None if row.proficiency_caption is None else 10 - row.proficiency_caption,
            proficiency_foils=tuple(10 - foil for foil in row.proficiency_foils),
        )
        for row in rows
    ]


@pytest.mark.parametrize("form", BROUGHT)
def test_perplexities_are_imported_with_the_right_direction(owner, release, run, form):
    rows, _missing = release_scores(run)
    _label, ending, write = WRITERS[form]
    again = bring(owner, release, f"other.{ending}", write(as_perplexities(rows)), form)
    got, expected = (run_results(one, draws=10)["overall"]["T_all"] for one in (again, run))
    assert got == expected


@pytest.mark.parametrize("turned", [list, as_perplexities])
def test_vilmas_two_files_give_both_skills(owner, release, run, turned):
    rows = turned(release_scores(run)[0])
    able = SimpleUploadedFile("p.json", WRITERS["vilma-proficiency"][2](rows))
    again = bring(owner, release, "m.json", WRITERS["vilma"][2](rows), "vilma", proficiency=able)
    got, expected = (run_results(one, draws=10)["overall"] for one in (again, run))
    assert {name: got[name] for name in ("T", "P", "P+T", "n")} == {
        name: expected[name] for name in ("T", "P", "P+T", "n")
    }


def test_ids_on_one_side_only_are_listed_on_the_page_and_in_its_file(owner, release):
    first, second, *_rest = [record["id"] for record in records_of(release)]
    content = f"id,prediction\n{first},0\n{second},1\nnowhere,0\n"
    again = bring(owner, release, "mc.csv", content.encode(), ends=JobState.PARTLY)
    assert again.problems["not_in_release"] == ["nowhere"]
    assert len(again.problems["not_in_file"]) == 22
    assert run_results(again, draws=10)["overall"]["T_all"] == 0.5
    html = owner.get(reverse("scoring:run", args=["ranked", again.pk])).content.decode()
    assert "nowhere" in html
    assert "uploads" not in html
    problems = owner.get(reverse("scoring:run_file", args=["ranked", again.pk, "json"])).json()["problems"]
    assert len(problems["not_in_file"]) == 22


def test_missing_pairs_are_listed_and_their_items_have_no_score(owner, release):
    """Right everywhere, and pairs given only where it is right on those too: nothing of that makes it the best."""
    records = records_of(release)
    able = [record["id"] for record in records if record["proficiency"]]
    lines = [{"id": record["id"], "caption": 1, "foils": [0]} for record in records]
    alone = bring(owner, release, "alone.jsonl", "\n".join(map(json.dumps, lines)).encode())
    got = run_results(alone, draws=10)
    assert (alone.problems, got["missing"], got["overall"]["n"], got["overall"]["P"]) == ({}, [], 24, None)
    for line in lines:
        if line["id"] in able[:2]:
            line["proficiency"] = {"caption": 1, "foils": [0]}
    content = "\n".join(map(json.dumps, lines)).encode()
    chosen = bring(owner, release, "chosen.jsonl", content, ends=JobState.PARTLY)
    assert chosen.problems == {"not_in_file": [f"{name} (proficiency)" for name in able[2:]]}
    got = run_results(chosen, draws=10)
    assert got["missing"] == able[2:]
    assert (got["overall"]["n"], got["overall"]["n_all"]) == (2, 14)
    html = owner.get(reverse("scoring:run", args=["ranked", chosen.pk])).content.decode()
    assert f"{able[2]} (proficiency)" in html


class TestIdsWithinSubtests:
    """Items numbered alike in "up" and in "down", right in "up" alone, where two captions have another foil."""

    @pytest.fixture
    def alike(self, project, release):
        for item in Item.objects.filter(subtest__name__in=("up", "down")):
            Item.objects.filter(pk=item.pk).update(key=str(number_of({"caption": item.caption.text}) // 2))
        Foil.objects.create(item=Item.objects.get(subtest__name="up", key="0"), text="a ball sleeps 0", position=1)
        return freeze_release(None, project, name="alike")

    def brought(self, release, path, proficiency=None, ends=JobState.DONE):
        kept = {"form": "auto", **({"proficiency": str(proficiency)} if proficiency else {})}
        run = start_run(None, release, RunRequest(f"file:{path}", kept_file=kept))
        assert run_now(run.job).state == ends
        run.refresh_from_db()
        return run

    def test_a_file_that_names_subtests_scores_each_item_by_its_own_row(self, alike, tmp_path):
        main, able = tmp_path / "clip.jsonl", tmp_path / "able.jsonl"
        lines, pairs = [], []
        for record in records_of(alike):
            up, name = record["subtest"] == "up", record["id"].partition(":")[2]
            about = {"id": name, "subtest": record["subtest"], "caption": int(up)}
            lines.append({**about, "foils": [0.5] * len(record["foils"])})
            pairs += [{**about, "caption": int(not up), "foils": [0.5]}] if record["proficiency"] else []
        main.write_text("\n".join(map(json.dumps, lines)))
        able.write_text("\n".join(map(json.dumps, [*pairs, {**pairs[0], "id": "99"}])))
        run = self.brought(alike, main, able)
        got = run_results(run, draws=10)["subtests"]
        assert {name: (group["T"], group["P"], group["n_all"]) for name, group in got.items()} == {
            "up": (1, 0, 12),
            "down": (0, 1, 12),
        }
        assert run.problems == {"not_in_release": [f"{pairs[0]['subtest']}:99 (proficiency)"]}

    @pytest.mark.parametrize("form", ["mc", "utd", "rcad-csv"])
    def test_a_file_of_one_subtest_is_named_by_it(self, alike, tmp_path, form):
        path = tmp_path / "up.csv"
        head, line = {
            "mc": ("id,prediction", "{},0"),
            "utd": ("sample,class,correct", "{},,1"),
            "rcad-csv": ("id,scores", "{},1,0"),
        }[form]
        # The item of two foils has no row of two scores.
        path.write_text("\n".join([head, *(line.format(k) for k in range(form == "rcad-csv", 12))]))
        run = self.brought(alike, path, ends=JobState.PARTLY)
        got = run_results(run, draws=10)["subtests"]
        assert {name: (group["T_all"], group["n_all"]) for name, group in got.items()} == {
            "up": (1, 12 - (form == "rcad-csv"))
        }

    def test_an_ambiguous_id_is_refused_and_a_unique_one_needs_no_subtest(self, project, alike, tmp_path):
        path = tmp_path / "clip.csv"
        path.write_text("id,prediction\n3,0\n")
        with pytest.raises(ActionableError, match=r"id: '3' is in several subtests; give the full id: down:3 or up:3"):
            self.brought(alike, path)
        Item.objects.filter(subtest__name="up", key="3").update(key="only")
        run = self.brought(freeze_release(None, project, name="other"), path, ends=JobState.PARTLY)
        assert run_results(run, draws=10)["subtests"]["down"]["n_all"] == 1

    def test_two_records_of_one_item_are_refused(self, alike, tmp_path):
        path = tmp_path / "clip.jsonl"
        line = {"caption": 1, "foils": [0]}
        path.write_text("\n".join(map(json.dumps, [{"id": "3", "subtest": "up", **line}, {"id": "up:3", **line}])))
        with pytest.raises(ActionableError, match="id: '3' and 'up:3' name the same item 'up:3'; keep one of them"):
            self.brought(alike, path)


def test_a_file_that_is_imported_again_is_read_again(owner, release):
    content = "".join(f"{record['id']},0\n" for record in records_of(release)).encode()
    first = bring(owner, release, "a.csv", b"id,prediction\n" + content, "mc")
    Score.objects.filter(model_key=first.model_key).update(value=0.5)
    again = bring(owner, release, "a.csv", b"id,prediction\n" + content, "mc")
    assert again.model_key == first.model_key
    assert run_results(again, draws=10)["overall"]["T_all"] == 1


def test_items_of_several_foils_take_predictions_and_rows(project, release, tmp_path):
    item = Foil.objects.get(text="a ball rests 3").item
    Foil.objects.create(item=item, text="a ball sleeps 3", position=1)
    later = freeze_release(None, project, name="later")
    records = records_of(later)
    ids = [record["id"] for record in records]
    path = tmp_path / "mc.csv"
    path.write_text("id,prediction\n" + "".join(f"{name},{k % 2}\n" for k, name in enumerate(ids)))
    run = start_run(None, later, RunRequest(f"file:{path}"))
    run_now(run.job)
    run.refresh_from_db()
    assert run_results(run, draws=10)["overall"]["T_all"] == 0.5
    # An array has rows of one width: of the items with two texts in their order.
    array = tmp_path / "r.npy"
    np.save(array, np.array([[1.0, 0.0]] * 23))
    wide = [record["id"] for record in records if len(record["foils"]) == 2]
    given = read_given(array, "rcad-npy", records)
    assert set(ids) - set(given.ids) == set(wide)
    assert [number_of(next(r for r in records if r["id"] == wide[0]))] == [3]


@pytest.mark.parametrize(
    ("name", "content", "form", "message"),
    [
        ("r.npy", None, "rcad-npy", "there are 3 of 2 scores, and the release has 24 such items"),
        ("u.csv", b"sample,correct_1,correct_2\na,1,0\n", "utd", "the file contains 2 models; give a file with one"),
        ("m.csv", b"id,prediction\na,0\n", "rcad-csv", "predictions, not scores; choose mc"),
        ("v.json", b"not json", "vilma", "v.json"),
        ("x.jsonl", b'{"id": "elsewhere", "caption": 1, "foils": [0]}', "pairs", "none of its ids is in the release"),
    ],
)
def test_unreadable_files_are_reported_without_the_folder(owner, release, tmp_path, name, content, form, message):
    if content is None:
        np.save(tmp_path / name, np.zeros((3, 2)))
        content = (tmp_path / name).read_bytes()
    address = reverse("scoring:bring_scores", args=["ranked", release.pk])
    owner.post(address, {"scores": SimpleUploadedFile(name, content), "form": form, "protocol": "foilworks"})
    made = Run.objects.get()
    with pytest.raises(ActionableError, match=message) as error:
        run_now(made.job)
    assert "scores-" not in str(error.value)


def test_errors_appear_next_to_the_fields(owner, release):
    address = reverse("scoring:bring_scores", args=["ranked", release.pk])
    assert owner.get(address).status_code == 200
    assert owner.post(address, {"form": "auto", "protocol": "foilworks"}).status_code == 422
    sent = {"scores": SimpleUploadedFile("a.jsonl", b"{}"), "form": "exe", "protocol": "foilworks"}
    assert owner.post(address, sent).status_code == 422
    assert not Run.objects.exists()


def test_every_written_form_can_be_read():
    # What a model wrote as text, and the log of a harness, are not stored.
    assert set(WRITERS) - {"vilma-proficiency"} == set(FORMS) - {"auto", "letters", "harness"}


def test_only_the_operator_may_name_a_file_of_the_server(owner, release, tmp_path):
    path = tmp_path / "s.jsonl"
    path.write_text(json.dumps({"id": "a", "caption": 1, "foils": [0]}))
    address = reverse("releases:release", args=["ranked", release.pk])
    answer = owner.post(address, {"spec": f"file:{path}", "protocol": "foilworks", "device": "auto"})
    assert answer.status_code == 422
