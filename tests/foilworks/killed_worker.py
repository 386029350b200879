"""Run in a process and a home of its own: `python -m tests.foilworks.killed_worker make|work|take_back|look …`.

`work` executes one job as the queue's worker does; every model call is slow and writes what it was asked for to a
file, at once, so that what a killed process had asked is known.
"""

import json
import os
import sys
import time
from datetime import timedelta
from functools import partial
from pathlib import Path

SLOW_SECONDS = 0.06
CAPTIONS, CLIPS = 40, 24
CHAT_AT_ONCE = 3


def make() -> dict[str, str]:
    """A project with a generation run and a release with a scoring run, both waiting; prints their jobs' ids."""
    from django.conf import settings
    from django.core.management import call_command

    from evaluation.releases.actions.freeze_release import freeze_release
    from evaluation.scoring.actions.start_run import start_run as start_scoring
    from evaluation.scoring.run_request import RunRequest
    from foilworks.core.corpus.rules.states import ItemState
    from foilworks.core.media.encode import write_mp4
    from foilworks.core.projects.models import Role
    from generation.actions.runs import start_run as start_generation
    from generation.run_request import FoilRequest
    from tests import factories
    from tests.media.painted import painted_clip

    call_command("migrate", verbosity=0)
    project = factories.make_project(slug="killed")
    owner = factories.make_member(project, Role.RESEARCHER)
    subtest = factories.make_subtest(project, name="s")
    for number in range(CAPTIONS):
        factories.make_caption(factories.make_video(project), f"a man folds a shirt and {number} towels.")
    generation = start_generation(
        owner,
        project,
        FoilRequest(
            subtest=subtest,
            method="mask_fill",
            params={"model": "fake-mask:", "foils": "2", "tagger": "offline"},
            filters={"duplicate": {}, "nli": {"model": "fake-classifier:"}},
        ),
    )
    path = Path(settings.MEDIA_ROOT) / "clip.mp4"
    path.parent.mkdir(parents=True, exist_ok=True)
    write_mp4(path, painted_clip(8), fps=8)
    for number in range(CLIPS):
        video = factories.make_video(project, key=f"clip{number}", file="clip.mp4", sha256=f"{number:064d}")
        caption = factories.make_caption(video, f"ball {number} rises")
        factories.make_item(subtest, caption, (f"ball {number} falls",), state=ItemState.VALID)
    scoring = start_scoring(None, freeze_release(None, project), RunRequest("fake:1", device="cpu"))
    return {"generation": str(generation.job.pk), "scoring": str(scoring.job.pk)}


def make_chat() -> dict[str, str]:
    """One more run of that project, which asks the endpoint that the environment names; prints its job's id."""
    from foilworks.core.corpus.models import Subtest
    from generation.actions.runs import start_run
    from generation.run_request import FoilRequest

    subtest = Subtest.objects.get(project__slug="killed")
    run = start_run(
        None,
        subtest.project,
        FoilRequest(
            subtest=subtest,
            method="chat",
            filters={},
            params={"endpoint": "lab", "foils": 1, "concurrency": CHAT_AT_ONCE},
            selection={"caption_keys": [caption.key for caption in _captions(subtest)]},
        ),
    )
    return {"chat": str(run.job.pk)}


def make_served() -> dict[str, str]:
    """A scoring run of that project's release through the endpoint that the environment names; prints its job's id."""
    from evaluation.scoring.actions.start_run import start_run
    from evaluation.scoring.run_request import RunRequest
    from foilworks.core.corpus.models import Release

    run = start_run(None, Release.objects.get(project__slug="killed"), RunRequest("endpoint:lab/tiny?frames=2"))
    return {"served": str(run.job.pk)}


def _captions(subtest):
    from foilworks.core.corpus.models import Caption

    return Caption.objects.filter(video__project=subtest.project, text__startswith="a man")


def work(job_id: str, log: str, stop_after: str = "") -> dict[str, str]:
    """Small batches, slow calls, each noted with what it was asked; once so many things were, for ever in that call."""
    from evaluation.scoring import jobs as scoring
    from foilworks.core.hub.adapters.fake import FakeClassifier, FakeEmbedder, FakeFiller
    from foilworks.core.jobs.models import Job
    from foilworks.core.jobs.runner import execute
    from generation import jobs as generation

    def noted(owner, name, asked):
        real = getattr(owner, name)

        def call(self, given, *rest, **options):
            with Path(log).open("a", encoding="utf-8") as file:
                file.writelines(f"{json.dumps([name, one])}\n" for one in asked(given, *rest))
            while stop_after and len(Path(log).read_text(encoding="utf-8").splitlines()) >= int(stop_after):
                time.sleep(1)
            time.sleep(SLOW_SECONDS)
            return real(self, given, *rest, **options)

        setattr(owner, name, call)

    noted(FakeFiller, "fill", lambda texts, k, allowed=None: texts)
    noted(FakeClassifier, "probs", lambda pairs: pairs)
    noted(FakeEmbedder, "encode_video", lambda clips, meta: [about.key for about in meta])
    generation.BATCH = 5
    # Never by time: a write that fell between a clip's two scores would move all later ones.
    scoring.SCORES_PER_WRITE, scoring.SECONDS_PER_WRITE = 4, 600
    scoring.score_pairs = partial(scoring.score_pairs, clips_a_batch=2)
    execute(job_id)
    return {"state": Job.objects.get(pk=job_id).state}


def take_back(job_id: str) -> dict[str, int]:
    """As if the dead worker's lease had run out: the supervisor's look for lost jobs finds this one."""
    from django.utils import timezone

    from foilworks.core.jobs.models import Job
    from foilworks.core.jobs.queue import requeue_lost

    Job.objects.filter(pk=job_id).update(lease_until=timezone.now() - timedelta(seconds=1))
    requeue_lost()
    return {"waiting": Job.objects.filter(pk=job_id, state="waiting").count()}


def look() -> dict[str, object]:
    """What is stored."""
    from evaluation.scoring.models import Score, ServedAnswer
    from foilworks.core.projects.models import AuditEvent
    from generation.models import Candidate, CandidateGroup

    return {
        "groups": list(CandidateGroup.objects.values_list("caption_id", flat=True)),
        "candidates": list(Candidate.objects.order_by("text").values_list("text", flat=True)),
        "events": AuditEvent.objects.filter(target_type="generation.candidate").count(),
        "outcomes": list(ServedAnswer.objects.values_list("outcome", flat=True)),
        "scores": [list(pair) for pair in Score.objects.values_list("clip_key", "text_sha256")],
    }


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "foilworks.site.settings")
    import django

    from foilworks.site.server.gc_freeze import lasting

    with lasting():
        django.setup()
    print(json.dumps(globals()[sys.argv[1]](*sys.argv[2:])))  # noqa: T201
