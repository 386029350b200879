"""Thresholds fitted to people's verdicts."""

import numpy as np
import pytest
from django.urls import reverse
from hypothesis import given
from hypothesis import strategies as st

from evaluation.analyses.filters import compute, fit
from evaluation.analyses.verdicts import FilterVerdicts
from evaluation.errors import EvaluationError
from evaluation.facts.filter_verdicts import filter_verdicts
from evaluation.reports.reports import project_report
from foilworks.core.corpus.rules.states import CandidateState, FoilVerdict
from foilworks.core.projects.models import Role
from generation.models import FilterScore
from tests.factories import make_candidate, make_group, make_item, make_member, make_project, make_run, make_subtest
from tests.pages import read_page


def verdicts(scores, good, *, higher=True, now=None):
    return FilterVerdicts(
        "grammaticality",
        "Grammaticality",
        higher,
        np.array(scores, dtype=float),
        np.array(good, dtype=bool),
        np.array(now if now is not None else [True] * len(good), dtype=bool),
        [str(n) for n in range(len(good))],
    )


def f1(passes, good):
    return 2 * sum(passes & good) / max(1, sum(passes) + sum(good))


@given(st.lists(st.tuples(st.integers(0, 6), st.booleans()), min_size=1, max_size=20))
def test_no_other_threshold_has_a_better_f1(rows):
    scores = np.array([score for score, _ in rows], dtype=float)
    good = np.array([flag for _, flag in rows])
    found = f1(scores >= fit(scores, good), good)
    assert found == max(f1(scores >= at, good) for at in scores)


def test_a_wanted_precision_is_reached_with_the_most_recall():
    """From the top: good, good, bad, good, bad. Precision 1 with two, .75 with four, .6 with all."""
    scores, good = np.array([5.0, 4, 3, 2, 1]), np.array([True, True, False, True, False])
    assert fit(scores, good, 1.0) == 4
    assert fit(scores, good, 0.7) == 2
    assert fit(scores, good, 0.6) == 1
    # Where nothing reaches it, the best there is: half of the two on top.
    assert fit(np.array([3.0, 2, 1]), np.array([False, True, False]), 0.9) == 2


def test_an_informative_threshold_is_found_in_either_direction():
    scores = np.linspace(0, 1, 60)
    up = compute([verdicts(scores, scores > 0.5)])["filters"][0]
    assert (up["n_good"], up["auc"]) == (30, 1.0)
    assert up["threshold"] == pytest.approx(30 / 59)
    assert up["fitted"]["precision"] > 0.9
    assert up["fitted"]["recall"] > 0.9
    down = compute([verdicts(scores, scores < 0.5, higher=False)])["filters"][0]
    assert down["threshold"] == pytest.approx(29 / 59)
    # All passed, half of them are good.
    assert (down["now"]["precision"], down["now"]["recall"]) == (0.5, 1.0)
    assert down["now"]["precision_ci"][0] < 0.5 < down["now"]["precision_ci"][1]


def test_too_few_verdicts_fit_no_threshold():
    row = compute([verdicts([1, 2, 3], [True, True, False])])["filters"][0]
    assert row["fitted"] is None
    assert "fewer than 5" in row["reason"]
    with pytest.raises(EvaluationError, match="has been judged"):
        compute([])
    with pytest.raises(EvaluationError, match="give a number from 0"):
        compute([verdicts([1], [True])], precision=2)


@pytest.mark.django_db
class TestProject:
    @pytest.fixture
    def run(self):
        return make_run(make_subtest(make_project(), name="verbs"), method="mask_fill")

    def judged(self, run, score, state, verdict=None):
        fields = {}
        if verdict:
            item = make_item(run.subtest)
            item.foils.update(verdict=verdict)
            fields["foil"] = item.foils.get()
        candidate = make_candidate(make_group(run), state=state, **fields)
        FilterScore.objects.create(
            run=run, candidate=candidate, filter="nli", filter_version="1", score=score, passed=score < 0.5
        )

    def test_validators_count_before_reviewers_and_rewordings_not_at_all(self, run):
        self.judged(run, 0.1, CandidateState.ACCEPTED)
        self.judged(run, 0.2, CandidateState.DROPPED)
        self.judged(run, 0.3, CandidateState.ACCEPTED, FoilVerdict.INVALID)
        self.judged(run, 0.4, CandidateState.ACCEPTED, FoilVerdict.VALID)
        self.judged(run, 0.5, CandidateState.SUPERSEDED)
        self.judged(run, 0.6, CandidateState.QUEUED)
        self.judged(run, 0.7, CandidateState.ACCEPTED, FoilVerdict.DISPUTED)
        (found,) = filter_verdicts(run.project)
        assert (found.filter, found.higher_passes) == ("nli", False)
        assert found.scores.tolist() == [0.1, 0.2, 0.3, 0.4]
        assert found.good.tolist() == [True, False, False, True]
        assert filter_verdicts(run.project, make_subtest(run.project)) == []

    def test_the_page_gives_precision_and_recall_with_intervals(self, run, client):
        for at in range(20):
            state = CandidateState.ACCEPTED if at < 12 else CandidateState.DROPPED
            self.judged(run, at / 40, state)
        client.force_login(make_member(run.project, Role.RESEARCHER))
        path = reverse("reports:report", args=[run.project.slug, "filters"])
        read_page(" ".join(client.get(path, {"precision": "0.9"}).content.decode().split())).check(
            "Entailment", "60.0 %"
        )
        row = project_report(run.project, "filters")["filters"][0]
        assert row["threshold"] == pytest.approx(11 / 40)
        csv = client.get(reverse("reports:report_file", args=[run.project.slug, "filters", "csv"])).content.decode()
        assert csv.splitlines()[1].startswith("nli,12,8,0.6,1.0,0.275,")
