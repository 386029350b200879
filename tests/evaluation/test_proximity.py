"""Semantic proximity: measured once a pair by a job, read by the analysis, asked for on its page."""

import json

import numpy as np
import pytest
from django.core.management import call_command
from django.urls import reverse

from evaluation.errors import EvaluationError
from evaluation.proximity import measuring
from evaluation.proximity.actions.measure_proximity import measure_proximity
from evaluation.proximity.models import ProximityRun
from evaluation.proximity.stored_proximity import measured
from evaluation.releases.actions.freeze_release import freeze_release
from evaluation.reports.reports import release_analysis
from evaluation.scoring.actions.start_run import start_run
from evaluation.scoring.queries import records_of
from evaluation.scoring.run_request import RunRequest
from foilworks.core.corpus.models import Foil
from foilworks.core.corpus.rules.states import ItemState
from foilworks.core.hub.catalogue.registry import ENCODER
from foilworks.core.hub.opening import open_helper
from foilworks.core.jobs.models import Job, JobState
from foilworks.core.jobs.runner import run_now
from foilworks.core.projects.errors import AccessDenied
from foilworks.core.projects.models import Role
from generation.errors import GenerationError
from generation.models import Measure
from tests import factories
from tests.hub import folders

pytestmark = pytest.mark.django_db

# (caption, foils): the first pair of a door is a pair of opposites.
TEXTS = [
    ("a man opens a door 0", ("a man closes a door 0",)),
    *[(f"a man folds a shirt {k}", (f"a man irons a shirt {k}", f"a man eats a shirt {k}")) for k in range(1, 12)],
]


@pytest.fixture
def project():
    return factories.make_project(slug="near")


@pytest.fixture
def owner(project):
    return factories.make_member(project, Role.RESEARCHER, name="owner")


@pytest.fixture
def release(project):
    subtest = factories.make_subtest(project, name="verbs", foils_per_item=2)
    for caption, foils in TEXTS:
        row = factories.make_caption(factories.make_video(project), caption)
        factories.make_item(subtest, row, foils, state=ItemState.VALID)
    return freeze_release(None, project)


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    return str(folders.sentence_encoder(tmp_path_factory.mktemp("encoder") / "tiny"))


def score_evens(release, folder):
    """A model that is right on every second item."""
    lines = [
        json.dumps({"id": record["id"], "caption": k % 2, "foils": [0.5] * len(record["foils"])})
        for k, record in enumerate(records_of(release))
    ]
    path = folder / "m.jsonl"
    path.write_text("\n".join(lines))
    run = start_run(None, release, RunRequest(f"file:{path}"))
    assert run_now(run.job).state == JobState.DONE


def measure(release, model, **options):
    run = measure_proximity(None, release, model, **options)
    assert run_now(run.job).state == JobState.DONE
    run.refresh_from_db()
    return run


def _spy(model, made):
    """The model's class, noting what is built with it."""

    class Spy:
        objects = model.objects

        def __new__(cls, **fields):
            made.append(fields["pair_sha256"])
            return model(**fields)

    return Spy


def test_every_pair_is_measured_once(release, encoder, monkeypatch):
    run = measure(release, encoder, name="tiny")
    n = sum(len(foils) for _, foils in TEXTS)
    assert Measure.objects.filter(scorer=run.scorer).count() == n
    assert Measure.objects.filter(scorer=run.antonyms).count() == n
    asked = []
    real = measuring.Measure
    monkeypatch.setattr(measuring, "Measure", _spy(real, asked))
    measure(release, encoder, name="again")
    assert asked == []
    Foil.objects.filter(text="a man irons a shirt 3").update(text="a man tears a shirt 3")
    later = freeze_release(None, release.project, name="later")
    measure(later, encoder, name="tiny")
    # The changed pair, once by rules and once by the encoder.
    assert len(asked) == 2


def test_the_analysis_uses_the_nearest_foil_and_separates_antonyms(release, encoder, tmp_path):
    score_evens(release, tmp_path)
    with pytest.raises(EvaluationError, match="semantic proximity"):
        release_analysis(release, "proximity")
    measure(release, encoder, name="tiny")
    found = release_analysis(release, "proximity")
    model = open_helper(encoder, ENCODER, device="cpu")
    cosines = {}
    for record in records_of(release):
        rows = model.encode_text([record["caption"], *record["foils"]])
        cosines[record["id"]] = float(np.max(rows[1:] @ rows[0]))
    rest = sorted(value for name, value in cosines.items() if name != records_of(release)[0]["id"])
    # 15 % of 11 is 1.65: two items at each end.
    assert (found["n_antonyms"], found["cuts"]["tiny"]["n"], found["cuts"]["tiny"]["each"]) == (1, 11, 2)
    assert found["cuts"]["tiny"]["low_up_to"] == pytest.approx(rest[1], abs=1e-5)
    assert found["cuts"]["tiny"]["high_from"] == pytest.approx(rest[-2], abs=1e-5)
    assert [row["group"] for row in found["rows"]] == ["antonyms", "tiny: high", "tiny: low"]
    # A second encoder stands beside the first.
    measure(release, "fake:", name="other")
    assert set(release_analysis(release, "proximity")["cuts"]) == {"tiny", "other"}


def test_the_page_queues_a_job_shows_progress_and_then_numbers(client, release, owner, encoder, settings, tmp_path):
    client.force_login(owner)
    score_evens(release, tmp_path)
    settings.MODEL_ROOT = str(tmp_path)
    page = reverse("reports:analysis", args=["near", release.pk, "proximity"])
    html = client.get(page).content.decode()
    assert "Measure semantic proximity" in html
    answer = client.post(
        reverse("proximity:proximity", args=["near", release.pk]), {"model": encoder, "device": "auto"}
    )
    assert answer.status_code == 422
    assert "neither a model of this project" in answer.content.decode()
    client.post(
        reverse("proximity:proximity", args=["near", release.pk]), {"model": "fake:", "device": "cpu", "name": "SBERT"}
    )
    progress = reverse("proximity:proximity_progress", args=["near", release.pk])
    assert "hx-trigger" in client.get(page).content.decode()
    assert "HX-Refresh" not in client.get(progress).headers
    run_now(Job.objects.get(dotted="proximity.measure"))
    assert client.get(progress).headers["HX-Refresh"] == "true"
    html = client.get(page).content.decode()
    assert "SBERT: high" in html


def test_an_invalid_encoder_is_refused(release, owner, project):
    with pytest.raises(AccessDenied):
        measure_proximity(factories.make_member(project, Role.VALIDATOR), release, "fake:")
    with pytest.raises(EvaluationError, match="Enter an encoder"):
        measure_proximity(owner, release, " ")
    with pytest.raises(GenerationError, match="neither a model of this project"):
        measure_proximity(owner, release, "/etc/passwd")
    assert not ProximityRun.objects.exists()


def test_an_encoder_that_does_not_load_fails_with_its_name(release):
    run = measure_proximity(None, release, "nobody/nothing-of-this-name")
    with pytest.raises(Exception, match="nobody/nothing-of-this-name"):
        run_now(run.job)
    assert measured(release) == []


def test_the_command_measures_at_once(release, encoder, capsys):
    call_command("proximity", "--release", str(release.pk), "--model", encoder, "--name", "tiny", "--sync", "--json")
    assert '"state": "done"' in capsys.readouterr().out
    assert [run.name for run in measured(release)] == ["tiny"]
