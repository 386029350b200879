"""How reliable results are: learning curves with a verdict, missing texts, splits without certificate."""

import json

import pytest
from django.core.management import call_command
from django.urls import reverse

from evaluation.utd.data_sets import tables_of
from evaluation.utd.reliability import (
    CERTIFIED,
    CHANGING,
    FEW,
    SHORT,
    SINGLE,
    STEADY,
    UNCERTIFIED,
    WEAK,
    certificate_of,
    conclusion_of,
    losses,
)
from foilworks.core.projects.models import Role
from tests.evaluation.utd import texts
from tests.factories import make_member
from tests.pages import read_page


def point(per_class, biased, nine=0.9, full=0.92):
    return {
        "per_class": per_class,
        "n_train": 4 * per_class,
        "full": full,
        "nine": nine,
        "lowest": nine,
        "biased": biased,
    }


@pytest.mark.parametrize(
    ("curve", "state", "before"),
    [
        ([point(30, 0.1), point(60, 0.7), point(120, 0.72)], STEADY, 60),
        ([point(8, 0.1), point(16, 0.7), point(32, 0.72)], SHORT, 16),
        ([point(8, 0.1), point(16, 0.4), point(32, 0.72)], CHANGING, 16),
        # The last step is small, so it is compared with half of the train split.
        ([point(8, 0.1), point(16, 0.4), point(32, 0.7), point(36, 0.72)], CHANGING, 16),
        ([point(8, 0.7), point(16, 0.7, nine=0.5)], WEAK, 8),
        ([point(8, 0.7), point(9, 0.7)], SHORT, 8),
        ([point(5, 0.7)], SINGLE, None),
    ],
)
def test_a_learning_curve_ends_in_a_verdict(curve, state, before):
    found = conclusion_of(curve)
    assert found["state"] == state
    assert (found["before"] and found["before"]["per_class"]) == before
    assert found["last"] == curve[-1]


def test_classes_of_different_sizes_are_compared_by_all_their_videos():
    """Four classes, of which only one goes on to grow: its size says little about the others."""
    curve = [point(8, 0.1), point(16, 0.7), point(120, 0.72)]
    curve[-1]["n_train"] = 84
    found = conclusion_of(curve)
    # 64 videos are more than half of 84.
    assert (found["state"], found["before"]["n_train"]) == (CHANGING, 32)
    curve = [point(60, 0.71), point(120, 0.72)]
    assert conclusion_of(curve)["state"] == STEADY
    few = [point(8, 0.71), point(120, 0.72)]
    few[-1]["n_train"] = 84
    assert conclusion_of(few)["state"] == SHORT


def test_a_stratified_bootstrap_needs_no_large_classes():
    curve = [point(8, 0.7), point(16, 0.7), point(32, 0.72)]
    assert conclusion_of(curve, "stratified")["state"] == STEADY


def test_no_curve_has_no_verdict():
    assert conclusion_of(None) is None
    assert conclusion_of([]) is None


def test_only_checked_splits_have_a_certificate():
    def state(**nine):
        return certificate_of({"split": {"nine": nine} if nine else {}})

    assert state(certified=True, warnings=[]) == CERTIFIED
    assert state(certified=True, warnings=["few"]) == FEW
    assert state(certified=False, warnings=["far", "few"]) == UNCERTIFIED
    assert state() is None
    assert certificate_of(None) is None


def test_missing_texts_cost_cells_and_splits():
    rows = [
        {"split": "train", "text": "objects", "n": 2, "of": 8},
        {"split": "test", "text": "summary", "n": 1, "of": 4},
    ]
    objects, summary = losses({"task": "classification", "missing": rows})
    assert (objects["splits"], summary["splits"]) == (True, False)
    assert objects["cells"] == [(True, "objects", True), (True, "objects", False)]
    whole = "objects+composition+activities"
    assert summary["cells"] == [(False, whole, True), (True, whole, True)]
    assert losses({"task": "classification"}) == []


@pytest.fixture
def owned(tmp_path, client, db):
    project, told = texts.described("things", tmp_path)
    client.force_login(make_member(project, Role.RESEARCHER, name="owner"))
    return texts.measured(told, name="direction", learning_curve=True)


def page(client, name, run):
    response = client.get(reverse(f"utd:{name}", args=["things", run.pk]))
    assert response.status_code == 200
    return response.content.decode()


def test_the_page_shows_curve_and_complete_texts(client, owned):
    html = page(client, "bias_reliability", owned)
    verdict = conclusion_of(owned.result["learning_curve"])
    assert str(verdict["advice"]) in html
    assert all(f'<th scope="row">{row["per_class"]}</th>' in html for row in owned.result["learning_curve"])
    assert "all videos have the texts of every result" in html
    url = reverse("utd:bias_download", args=["things", owned.pk, "curve", "svg"])
    assert b"object-biased samples" in client.get(url).content
    assert reverse("utd:bias_reliability", args=["things", owned.pk]) in page(client, "bias_run", owned)


def test_a_run_without_a_curve_offers_one_with_its_settings(client, owned):
    owned.result["learning_curve"] = None
    owned.result["missing"] = [{"split": "train", "text": "objects", "n": 5, "of": 12, "costs": []}]
    owned.save()
    html = page(client, "bias_reliability", owned)
    read_page(html).check("This run has no learning curve", "5 of 12")
    assert "<strong>debiased splits</strong>" in html
    link = html.split("/bias/measure/?")[1].split('"')[0].replace("&amp;", "&")
    form = client.get(f"{reverse('utd:bias_measure', args=['things'])}?{link}").context["form"]
    assert form["encoder"].value() == owned.encoder == "fake-words:"
    assert form["learning_curve"].value() == "on"
    assert form["descriptions"].value() == str(owned.descriptions_id)


def test_models_and_data_sets_mark_splits_that_are_not_certified(client, owned, tmp_path, capsys):
    owned.result["split"]["nine"] |= {"certified": False, "warnings": ["The nine models are too weak."]}
    owned.save()
    answers = tmp_path / "model.csv"
    answers.write_text("video_id,acc_top1\n" + "".join(f"{name},1\n" for name in owned.predictions["ids"]))
    call_command("utd", "benchmark", "--run", str(owned.pk), "--file", str(answers), "--json")
    assert json.loads(capsys.readouterr().out)["certificate"] == UNCERTIFIED
    html = page(client, "bias_models", owned)
    assert html.count('<span class="badge badge-warn">not certified</span>') == 2
    assert "These splits are not certified." in html
    for name in ("bias_run", "bias_split"):
        assert "not certified" in page(client, name, owned)
    for name in ("bias", "bias_datasets"):
        assert "not certified" in client.get(reverse(f"utd:{name}", args=["things"])).content.decode()
    last = tables_of([owned])[3]["rows"][-1]
    assert (last["key"], last["cells"]) == ("certificate", [{"value": UNCERTIFIED}])
