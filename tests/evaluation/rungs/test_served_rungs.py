"""Runs with controls through an endpoint: which pictures the server gets for each rung."""

import pytest

from evaluation.scoring.actions.start_run import start_run
from evaluation.scoring.models import Run, Score, ServedAnswer
from evaluation.scoring.queries import release_scores
from evaluation.scoring.run_request import RunRequest
from evaluation.scoring.rungs import Rung
from evaluation.scoring.served.served_results import raw_answers
from foilworks.core.jobs.models import JobState
from foilworks.core.jobs.runner import run_now
from tests.evaluation.rungs.worlds import CLIPS, FOILS, make_release
from tests.hub.chat_server import chat_server, likely, pictures_of, text_of

pytestmark = pytest.mark.django_db


def yes_by_pictures(body, n):
    """More likely yes the more distinct pictures it is sent; for other texts a little less."""
    share = 0.2 + 0.05 * len(set(pictures_of(body))) + 0.001 * (len(text_of(body)) % 7)
    return likely({"Yes": share, "No": 1 - share})


def scored(release, settings, url: str, mode: str) -> Run:
    settings.CHAT_ENDPOINTS = {"lab": {"url": url, "models": ("tiny",), "key": ""}}
    run = start_run(None, release, RunRequest(f"endpoint:lab/tiny?frames=4&mode={mode}", controls=True))
    assert run_now(run.job).state == JobState.DONE
    return Run.objects.get(pk=run.pk)


def test_each_rung_sends_its_pictures_and_no_clip_sends_none(settings):
    release = make_release()
    with chat_server(yes_by_pictures) as server:
        run = scored(release, settings, server.url, "p_yes")
        bodies = server.bodies[1:]
        sent = {(text_of(body), tuple(pictures_of(body))) for body in bodies}
        assert len(sent) == len(bodies), "equal questions are sent once"
        scored(release, settings, server.url, "p_yes")
        assert len(server.bodies) == len(bodies) + 2, "a second run asks its first question, and nothing else"
    assert run.params["ladder"]["no_clip"] == "none"
    assert run.job.measured["decoded"] == CLIPS
    for rung, pictures in ((Rung.NO_CLIP, 0), (Rung.FIRST_FRAME, 1), (Rung.SHUFFLED, 4), (Rung.FULL, 4)):
        rows, missing = release_scores(run, rung=rung)
        assert missing == []
        assert len(rows) == CLIPS
        assert all(0 <= row.caption - 0.2 - 0.05 * pictures < 0.01 for row in rows)
    texts = {text for body in bodies if not pictures_of(body) for text in (text_of(body),)}
    assert Score.objects.filter(clip_key="~blank").count() == len(texts)
    # The raw answers of another clip name the item whose texts were asked.
    rows = list(ServedAnswer.objects.filter(release=release))
    assert all(text is not None and "…" not in text for each in raw_answers(run, rows) for text in each.texts or ())


def test_a_choice_without_a_clip_has_a_key_for_each_set_of_texts(settings):
    release = make_release()
    with chat_server(lambda body, n: likely({"A": 0.5, "B": 0.3, "C": 0.2})) as server:
        run = scored(release, settings, server.url, "choice")
    assert release_scores(run, rung=Rung.NO_CLIP)[1] == []
    blind = Score.objects.filter(clip_key__startswith="~blank#")
    assert blind.count() == CLIPS * (1 + FOILS)
