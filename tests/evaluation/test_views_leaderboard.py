"""The board, the comparison and the model card as pages and files."""

import csv
import io
import json
import xml.etree.ElementTree as ET
from dataclasses import replace
from urllib.parse import urlencode

import pytest
from django.urls import reverse

from annotation.models import Choice, Stage, Vote
from evaluation.board.comparison import compare
from evaluation.board.latex import markdown
from evaluation.board.leaderboard import board
from evaluation.errors import EvaluationError
from evaluation.scoring.actions.models import describe_model
from evaluation.scoring.actions.start_run import start_run
from evaluation.scoring.models import ModelCard
from evaluation.scoring.run_request import RunRequest
from evaluation.scoring.run_results import axes_of
from evaluation.text_tables import escaped
from tests import factories
from tests.addresses import named
from tests.evaluation.ranked import make_release, number_of, score
from tests.pages import read_page

pytestmark = pytest.mark.django_db


@pytest.fixture
def project():
    return factories.make_project(slug="ranked")


@pytest.fixture
def release(project):
    return make_release(project)


@pytest.fixture
def models(release, tmp_path):
    """Over the 12 items with a pair: A has 0..8 right, B has 3..11."""
    return (
        score(release, tmp_path, "A & co|1", lambda k: k < 9),
        score(release, tmp_path, "B", lambda k: k >= 3),
    )


def url(name, release, *args, **query):
    path = reverse(named(name), args=[release.project.slug, release.pk, *args])
    return f"{path}?{urlencode(query)}"


class TestBoard:
    def test_it_explains_its_numbers(self, owner, release, models):
        html = owner.get(url("leaderboard", release)).content.decode()
        for words in (
            "A &amp; co|1",
            "Holm",
            "bootstrap over source videos",
            "The expected accuracy of random guessing",
            "75.0 %",
            "p, versus rank 1",
        ):
            assert words in html, words

    def test_an_empty_board_says_what_to_do(self, owner, release):
        html = owner.get(url("leaderboard", release)).content.decode()
        assert "Score a model on the release" in html
        assert owner.get(url("compare", release)).status_code == 200

    def test_another_column_and_scope(self, owner, release, models):
        context = owner.get(url("leaderboard", release, column="T", scope="subtest:up")).context
        assert (context["board"].column, context["board"].scope, context["board"].n_items) == ("T", "subtest:up", 12)
        fallen = owner.get(url("leaderboard", release, column="<script>", scope="nowhere")).context
        assert (fallen["board"].column, fallen["board"].scope) == ("P+T", "overall")

    def test_unfinished_and_empty_runs_are_marked(self, owner, release, models):
        start_run(None, release, RunRequest("fake:text", label="waiting"))
        assert "scoring in progress" in owner.get(url("leaderboard", release)).content.decode()

    def test_people_are_listed_below_the_models(self, owner, release, models):
        item = release.members.first().item
        Vote.objects.create(
            item=item,
            foil=item.foils.get(),
            person=factories.make_user(),
            stage=Stage.BASELINE,
            choice=Choice.CAPTION,
            idempotency_key="x",
        )
        html = owner.get(url("leaderboard", release, column="T")).content.decode()
        assert "human baseline" in html
        text = owner.get(url("leaderboard_file", release, "md")).content.decode()
        assert "| | *people* | | -- | 100.0 | -- | 1 |" in text

    def test_files(self, owner, release, models, person):
        describe_model(person, models[0], category="video", size="1 M")
        rows = list(csv.DictReader(io.StringIO(owner.get(url("leaderboard_file", release, "csv")).content.decode())))
        by_name = {row["model"]: row for row in rows}
        first = by_name["A & co|1"]
        assert (first["category"], first["size"], first["place"], first["n"]) == ("video", "1 M", "1", "12")
        assert float(first["P+T"]) == 0.75
        data = json.loads(owner.get(url("leaderboard_file", release, "json")).content)
        assert data["n_tests"] == 1
        assert [row["model"] for row in data["models"]] == [row["model"] for row in rows]
        assert ET.fromstring(owner.get(url("leaderboard_file", release, "svg")).content).tag.endswith("svg")
        assert owner.get(url("leaderboard_file", release, "exe")).status_code == 404

    def test_tables_for_papers(self, owner, release, models):
        shown = board(release)
        group = next(row for row in shown.rows if row.run == models[0]).group
        # Every item right: a share of them may still be wrong.
        sure = f"{100 * group['P_ci'][0]:.1f}"
        interval = group["P+T_ci"]
        tex = owner.get(url("leaderboard_file", release, "tex")).content.decode()
        low, high = (f"{100 * bound:.1f}" for bound in interval)
        assert rf"1 & A \& co|1 & foilworks & 100.0 [{sure}--100.0] & 75.0 [{low}--{high}] & " in tex
        assert rf"\textbf{{75.0 [{low}--{high}]}} & 12 \\" in tex
        assert r"\emph{chance}" in tex
        assert tex.count("{") == tex.count("}")
        text = owner.get(url("leaderboard_file", release, "md")).content.decode()
        assert rf"| 1 | A & co\|1 | foilworks | 100.0 [{sure}–100.0] | 75.0 [{low}–{high}] |" in text
        assert "| | *chance* | | 50.0 | 50.0 | 25.0 | |" in text
        assert len({line.replace(r"\|", "").count("|") for line in text.splitlines() if line.startswith("|")}) == 1

    def test_bold_marks_models_without_a_significant_difference_from_the_best(self, release, models):
        shown = board(release)
        first, second = shown.rows
        for p, n_bold in ((0.2, 2), (0.01, 1)):
            rows = [first, replace(second, rank=3, tied=2, p_best=p)]
            assert markdown(replace(shown, rows=rows)).count("**") == 2 * n_bold

    def test_latex_accepts_any_name(self):
        assert escaped(r"a_b{50%}^~\$") == r"a\_b\{50\%\}\textasciicircum{}\textasciitilde{}\textbackslash{}\$"

    def test_the_number_of_queries_does_not_grow_with_the_models(
        self, owner, release, models, tmp_path, django_assert_max_num_queries
    ):
        for k in range(4):
            score(release, tmp_path, f"m{k}", lambda n, k=k: n % (k + 2) == 0)
        owner.get(url("leaderboard", release))
        # Session, person, project, roles, release, runs, cards, baseline, models that hinted or screened, what the gate
        # found, the licence.
        with django_assert_max_num_queries(11):
            owner.get(url("leaderboard", release))


class TestComparison:
    def test_by_hand(self, release, models):
        result = compare(*models, "P+T")
        found = result.columns["P+T"]
        assert (found["a"], found["b"], found["difference"]["value"]) == (0.75, 0.75, 0)
        assert (found["mcnemar"]["only_a"], found["mcnemar"]["only_b"], found["mcnemar"]["p"]) == (3, 3, 1.0)
        assert {name: len(places) for name, places in result.outcomes.items()} == {
            "only_a": 3,
            "only_b": 3,
            "both": 6,
            "neither": 0,
            "partial": 0,
        }

    def test_the_page_lists_the_items_on_which_they_differ(self, owner, release, models):
        a, b = models
        context = owner.get(url("compare", release, a=a.pk, b=b.pk, column="P+T", scope="overall")).context
        assert sorted(number_of(item.record) for item in context["items"]) == [0, 1, 2]
        assert {item.margin_a for item in context["items"]} == {0.5}
        assert {item.margin_b for item in context["items"]} == {-0.5}
        other = owner.get(url("compare", release, a=a.pk, b=b.pk, column="P+T", scope="overall", show="only_b")).context
        assert sorted(number_of(item.record) for item in other["items"]) == [9, 10, 11]
        assert "McNemar" in owner.get(url("compare", release)).content.decode()

    def test_one_item_shows_both_models_and_leads_to_the_next_disagreement(
        self, owner, release, models, django_assert_max_num_queries
    ):
        a, b = models
        params = {"a": a.pk, "b": b.pk, "column": "P+T", "scope": "overall"}
        first = owner.get(url("compare_item", release, **params)).context
        both, place = first["both"], first["place"]
        assert (place.outcome, place.number, place.total, place.previous) == ("only_a", 1, 3, None)
        assert [column.margin for column in both.columns] == [0.5, -0.5]
        assert [column.credit for column in both.columns] == [1.0, 0.0]
        assert [row.is_best for row in both.rows] == [(True, False), (False, True)]
        with django_assert_max_num_queries(24):
            second = owner.get(url("compare_item", release, **params, at=place.next)).context
        assert (second["place"].number, second["place"].previous) == (2, place.position)
        by_item = owner.get(url("compare_item", release, **params, item=both.item)).context
        assert by_item["both"].record == both.record
        assert owner.get(url("compare_item", release, **params, item=99999999)).status_code == 404

    def test_a_scope_takes_its_items_only(self, release, models):
        result = compare(*models, "T", "subtest:up")
        # Of the 12 items of the subtest the 6 with a proficiency pair, as in the results of each run.
        assert result.columns["T"]["difference"]["n"] == 6
        assert result.columns["T"]["a"] == board(release, "T", "subtest:up").rows[0].group["T"]
        names = axes_of(release).subtests
        assert {names[k] for places in result.outcomes.values() for k in places} == {"up"}

    def test_the_file_has_every_item_that_both_scored(self, owner, release, models):
        rows = list(csv.DictReader(io.StringIO(owner.get(url("compare_file", release)).content.decode())))
        assert [row["outcome"] for row in rows].count("both") == 6
        assert len(rows) == 12

    def test_runs_of_two_releases_and_unfinished_runs_are_not_compared(self, project, release, models, tmp_path):
        waiting = start_run(None, release, RunRequest("fake:text"))
        with pytest.raises(EvaluationError, match="not finished"):
            compare(models[0], waiting, "T")
        other = make_release(factories.make_project())
        with pytest.raises(EvaluationError, match="different releases"):
            compare(models[0], score(other, tmp_path, "C", lambda k: True), "T")
        with pytest.raises(EvaluationError, match="unknown column"):
            compare(*models, "X")

    def test_invalid_parameters_give_an_empty_page(self, owner, release, models):
        answer = owner.get(url("compare", release, a="x", b=models[1].pk))
        assert answer.status_code == 200
        assert "result" not in answer.context


class TestModelCard:
    def test_a_card_is_written_and_shown(self, owner, project, release, models):
        path = reverse("scoring:model_card", args=[project.slug, models[0].pk])
        assert owner.get(path).status_code == 200
        data = {"category": "image", "adaptation": "zero_shot", "size": "151 M", "objectives": "contrastive"}
        assert owner.post(path, data)["Location"] == reverse("scoring:run", args=[project.slug, models[0].pk])
        card = ModelCard.objects.get()
        assert (card.category, card.model_key) == ("image", models[0].model_key)
        read_page(owner.get(url("leaderboard", release))).check("image and text", "zero-shot")

    def test_invalid_card_values_are_reported_next_to_the_field(self, owner, project, models):
        path = reverse("scoring:model_card", args=[project.slug, models[0].pk])
        answer = owner.post(path, {"category": "smell", "url": "javascript:alert(1)"})
        assert answer.status_code == 422
        assert set(answer.context["form"].errors) == {"category", "url"}
