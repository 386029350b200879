"""Pages that conclude: verdicts against chance, samples with votes, training by a form, data sets side by side."""

import pytest
from django.urls import reverse

from evaluation.utd.data_sets import newest_runs, tables_of
from evaluation.utd.models import BenchmarkedModel
from evaluation.utd.verdicts import (
    ABOVE,
    AT,
    BELOW,
    MISSING,
    UNKNOWN,
    beside_chance,
    conclusions,
    order_matters,
    state_of,
)
from foilworks.core.projects.models import Membership, Role
from tests.evaluation.utd import texts
from tests.factories import make_member
from tests.pages import read_page


def cell(value, low=None, high=None, temporal="sequence", **more):
    return {"temporal": temporal, "value": value, "ci": None if low is None else [low, high], **more}


@pytest.mark.parametrize(
    ("given", "state"),
    [
        (cell(0.5, 0.3, 0.7), ABOVE),
        (cell(0.5, 0.1, 0.9), AT),
        (cell(0.1, 0.05, 0.15), BELOW),
        (cell(0.5), UNKNOWN),
        (cell(None), MISSING),
        (None, MISSING),
    ],
)
def test_the_interval_decides_between_chance_and_more(given, state):
    assert state_of(given, 0.2) == state


def test_a_cell_is_shaded_only_if_its_interval_excludes_chance():
    assert beside_chance(cell(0.5, 0.1, 0.9), 0.2)["chance_shade"] == ""
    shades = [beside_chance(cell(0.2 + more, 0.21, 0.9), 0.2)["chance_shade"] for more in (0.03, 0.06, 0.2)]
    assert shades == ["over-1", "over-2", "over-3"]
    assert beside_chance(cell(0.1, 0.0, 0.1), 0.2)["chance_shade"] == "under"
    assert beside_chance(cell(0.1, 0.0, 0.1), 0.2)["mark"] == "▼"


def test_dataset_bias_is_compared_with_the_largest_class():
    result = {
        "chance": 0.1,
        "largest_class": 0.5,
        "common": [{"concept": "objects", "cells": [cell(0.1, 0.05, 0.15)]}],
        "dataset": [{"concept": "objects", "cells": [cell(0.45, 0.4, 0.5)]}],
    }
    [row] = conclusions(result)
    assert (row["state"], row["needs_training"]) == (AT, False)
    result["dataset"][0]["cells"][0]["ci"] = [0.51, 0.6]
    [row] = conclusions(result)
    assert (row["state"], row["needs_training"]) == (ABOVE, True)
    assert "debiased split" in str(row["advice"])


def test_the_middle_frame_tells_whether_time_helps():
    cells = [cell(0.9, temporal="middle", difference=-0.2, difference_ci=[-0.3, -0.1])]
    result = {"common": [{"concept": "objects+composition+activities", "cells": cells}]}
    assert order_matters(result)["state"] == BELOW
    cells[0]["difference_ci"] = [-0.3, 0.1]
    assert order_matters(result)["state"] == AT
    assert order_matters({"common": None}) is None


@pytest.fixture
def owned(tmp_path, client, db):
    project, told = texts.described("things", tmp_path)
    person = make_member(project, Role.RESEARCHER, name="owner")
    client.force_login(person)
    return person, texts.measured(told, name="direction")


def page(client, name, *args, **query):
    response = client.get(reverse(f"utd:{name}", args=["things", *args]), query)
    assert response.status_code == 200
    return response.content.decode()


def test_a_run_ends_in_a_verdict_per_concept(client, owned):
    html = page(client, "bias_run", owned[1].pk)
    assert html.count('class="card" data-state=') == 4
    read_page(html).check("Report models on the debiased split", "Open debiased split")


def test_removed_samples_are_shown_with_objects_and_votes(client, owned, django_assert_max_num_queries):
    run = owned[1]
    with django_assert_max_num_queries(12):
        html = page(client, "bias_samples", run.pk)
    removed = run.result["split"]["removed"]
    assert all(name in html for name in removed[:12])
    assert html.count('class="vote-right"') == 9 * min(12, len(removed))
    assert ", mirror</dd>" in html or ", lamp</dd>" in html
    kept = page(client, "bias_samples", run.pk, show="kept")
    assert removed[0] not in kept
    assert "vote-wrong" in kept


def test_captions_of_a_retrieval_run_have_their_video(client, owned):
    run = texts.measured(owned[1].descriptions, name="captions", task="retrieval")
    html = page(client, "bias_samples", run.pk, show="kept")
    assert "a cup moves" in html
    assert "/videos/" in html
    single = texts.measured(owned[1].descriptions, name="captions", task="retrieval", options={"captions": "first"})
    assert single.predictions["ids"] != run.predictions["ids"]
    assert "a cup moves" in page(client, "bias_samples", single.pk, show="kept")


def test_a_model_is_trained_by_a_form(client, owned):
    url = reverse("utd:bias_train", args=["things", owned[1].pk])
    assert "12 videos of the train split" in client.get(url).content.decode()
    sent = {"model": "backbone:/etc", "epochs": "5", "device": "auto"}
    assert client.post(url, sent).status_code == 422
    assert (
        client.post(url, {**sent, "model": "backbone:lab/model", "label": "mine", "augment": "on"}).status_code == 302
    )
    assert client.post(url, {**sent, "model": "fake:", "label": "zero"}).status_code == 302
    trained, zero = BenchmarkedModel.objects.order_by("pk")
    assert (trained.source, trained.details["epochs"], trained.details["augment"]) == ("backbone:lab/model", 5, True)
    assert zero.source == "zero-shot:fake:"
    assert "mine" in page(client, "bias_models", owned[1].pk)


def test_data_sets_of_ones_own_projects_are_side_by_side(client, owned, tmp_path):
    person, run = owned
    other, told = texts.described("others", tmp_path)
    hidden = texts.measured(told, name="hidden")
    assert newest_runs(person) == [run]
    Membership.objects.create(project=other, person=person, role=Role.RESEARCHER)
    assert newest_runs(person) == [hidden, run]
    assert newest_runs(person, [run.pk]) == [run]
    tables = tables_of([hidden, run])
    assert [len(table["rows"]) for table in tables] == [4, 4, 4, 7]
    assert tables[3]["rows"][0]["cells"][0]["value"] == hidden.result["split"]["share_biased"]
    html = page(client, "bias_datasets")
    assert html.count('class="table utd"') == 4
    assert page(client, "bias_datasets", run=str(run.pk)).count('scope="col" class="num"') == 4


def test_settings_tell_runs_of_one_name_apart(client, owned):
    run = texts.measured(owned[1].descriptions, name="direction", vectors="float16")
    assert run.changed_settings == [("vectors", "float16")]
    for name in ("bias", "bias_ablation"):
        read_page(page(client, name)).check(f"#{run.pk},", "vectors float16")
    assert run.result["common"] == owned[1].result["common"]
