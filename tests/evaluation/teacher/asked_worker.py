"""Run in a process and a home of its own: `python -m tests.evaluation.teacher.asked_worker make|work …`. No torch."""

import json
import os
import sys
import time
from pathlib import Path

BATCH, CAPTIONS, NEGATIVES = 2, 16, 3


def make(models: str) -> dict[str, str]:
    """A training whose teacher's similarities wait in shards."""
    from django.core.management import call_command

    from foilworks.core.jobs.lease import claim
    from foilworks.core.jobs.runner import InProcessRunner
    from foilworks.core.jobs.spread import spread
    from foilworks.site.teacher import asking
    from foilworks.site.teacher.actions.trainings import start_teacher
    from foilworks.site.teacher.sources import stored_texts
    from foilworks.site.teacher.training_request import TrainingRequest
    from tests import factories

    call_command("migrate", verbosity=0)
    student = Path(models) / "student"
    student.mkdir(parents=True)
    (student / "config.json").write_text("{}")
    project = factories.make_project()
    run = factories.make_run(factories.make_subtest(project))
    for number in range(CAPTIONS):
        video = factories.make_video(project, split="train", file=f"{number}.mp4", sha256=f"{number:064d}")
        group = factories.make_group(run, factories.make_caption(video, f"ball {number} rises"))
        for rank in range(NEGATIVES):
            factories.make_candidate(group, f"ball {number} falls {rank} times", rank=rank)
    params = {"student": f"tiny:{student}", "teacher": "fake-words:"}
    training = start_teacher(None, project, TrainingRequest(params=params, action_runs=(run.pk,)))
    found, _ = stored_texts(training, asking.work_of(training), needs_negatives=True)
    asking.CAPTIONS_PER_BATCH = BATCH
    job = claim(str(training.job_id))
    spread(job, asking.ask_teacher(training, found, job), InProcessRunner())
    return {"job": str(job.pk), "files": str(asking.work_of(training) / asking.FOLDER)}


def work(job_id: str, log: str, calls: str, go: str) -> dict[str, list[str]]:
    """Run shards of the job; each text is noted with the process, and after some calls it waits for the file `go`."""
    from foilworks.core.hub.adapters._word_order import WordOrder
    from foilworks.core.jobs.models import Job
    from foilworks.core.jobs.runner import InProcessRunner
    from foilworks.site.teacher import asking

    real, left = WordOrder.encode_text, int(calls)

    def noted(self, texts):
        nonlocal left
        with Path(log).open("a", encoding="utf-8") as file:
            file.write("".join(f"{json.dumps([os.getpid(), text])}\n" for text in texts))
        while left <= 0 and not Path(go).exists():
            time.sleep(0.02)
        left -= 1
        return real(self, texts)

    WordOrder.encode_text = noted
    asking.CAPTIONS_PER_BATCH = BATCH
    return {"states": [shard.state for shard in InProcessRunner().collect(Job.objects.get(pk=job_id))]}


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "foilworks.site.settings")
    import django

    from foilworks.site.server.gc_freeze import lasting

    with lasting():
        django.setup()
    print(json.dumps(globals()[sys.argv[1]](*sys.argv[2:])))  # noqa: T201
