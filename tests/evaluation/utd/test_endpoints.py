"""Descriptions and concepts through an endpoint: many requests in flight, a budget, nothing asked twice."""

from threading import Event

import pytest

from evaluation.errors import EvaluationError
from evaluation.utd.actions.descriptions import describe_videos, resume_description
from evaluation.utd.concepts import DESCRIPTION
from evaluation.utd.models import DescriptionsUsage, FrameText
from evaluation.utd.requests import DescriptionRequest
from foilworks.core.hub.adapters import chat_endpoint
from foilworks.core.jobs.models import JobState
from foilworks.core.jobs.runner import run_now
from tests.evaluation.served.worlds import colour_seen, endpoint, make_release
from tests.hub.chat_server import Said, chat_server, content, pictures_of
from tests.waiting import PATIENCE_SECONDS

pytestmark = pytest.mark.django_db
VIDEOS, FRAMES = 3, 4


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch):
    monkeypatch.setattr(chat_endpoint, "FIRST_PAUSE", 0.01)


def answer(body, n):
    """A sentence for a picture; for a description its concepts."""
    if pictures_of(body):
        return Said(content(f"A {colour_seen(body)} wall is moving up.").body, wait=0.1)
    return Said(content("1. a wall").body, wait=0.1)


def described(settings, server, project, **options):
    settings.CHAT_ENDPOINTS = endpoint(server.url, price=(1.0, 2.0), currency="USD")
    spec = {"describer": "endpoint:lab/tiny", "extractor": "endpoint:lab"}
    return describe_videos(None, project, DescriptionRequest(frames=FRAMES, **spec, **options))


def test_frames_are_described_and_extracted_with_many_requests_in_flight(settings):
    project, five = make_release(VIDEOS).project, Event()

    def answer_once_five_came(body, n):
        # Three different pictures are described first, then all descriptions are read.
        if not pictures_of(body):
            if server.at_once > 4:
                five.set()
            five.wait(PATIENCE_SECONDS)
        return answer(body, n)

    with chat_server(answer_once_five_came) as server:
        made = described(settings, server, project)
        assert run_now(made.job).state == JobState.DONE
    made.refresh_from_db()
    assert made.problems == {}
    rows = FrameText.objects.filter(descriptions=made)
    assert rows.count() == VIDEOS * FRAMES
    assert {row.raw[DESCRIPTION] for row in rows} == {
        f"A {colour} wall is moving up." for colour in ("red", "green", "blue")
    }
    assert five.is_set(), "never more than four requests in flight"
    usage = DescriptionsUsage.objects.get(descriptions=made)
    assert usage.requests == len(server.bodies)
    assert usage.cost == pytest.approx((20 * 1.0 + 5 * 2.0) / 1e6 * len(server.bodies))
    # Frames of one video that are equal are asked about once.
    assert len([body for body in server.bodies if pictures_of(body)]) <= VIDEOS * FRAMES
    assert max(server.asked.values()) == 1


def test_a_used_up_budget_stops_the_job_and_a_larger_one_resumes_it(settings):
    project = make_release(VIDEOS).project
    with chat_server(answer) as server:
        made = described(settings, server, project, budget={"requests": 5})
        with pytest.raises(EvaluationError, match=r"The budget is used up\. Raise it and resume"):
            run_now(made.job)
        assert len(server.bodies) == 5
        made.refresh_from_db()
        resumed = resume_description(None, made, {"requests": 100})
        assert run_now(resumed.job).state == JobState.DONE
        assert max(server.asked.values()) == 1
    assert FrameText.objects.filter(descriptions=made).count() == VIDEOS * FRAMES


def test_only_a_split_or_listed_videos_are_described(settings):
    project = make_release(VIDEOS).project
    project.videos.filter(key="clip1").update(split="val")
    with chat_server(answer) as server:
        for chosen, keys in (({"split": "val"}, {"clip1"}), ({"videos": ["clip0", "clip2"]}, {"clip0", "clip2"})):
            made = described(settings, server, project, **chosen)
            assert run_now(made.job).state == JobState.DONE
            assert set(FrameText.objects.filter(descriptions=made).values_list("video__key", flat=True)) == keys
        for wrong, why in (({"split": "dev"}, "is not a split"), ({"videos": ["clip9"]}, "not in the project: clip9")):
            with pytest.raises(EvaluationError, match=why):
                described(settings, server, project, **wrong)
