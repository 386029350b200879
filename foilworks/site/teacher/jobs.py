"""Define the background jobs of LLM-teacher."""

from foilworks.core.jobs.models import Job
from foilworks.core.jobs.spread import Spread
from foilworks.site.teacher.models import StudentEvaluation, TeacherTraining


def run_teacher(training_id: int, job: Job) -> Spread | None:
    """Train a dual encoder by LLM-teacher, with its curve, and evaluate the release before and after."""
    from foilworks.site.teacher.teaching import run_training

    return run_training(TeacherTraining.objects.select_related("project", "release").get(pk=training_id), job)


def ask_teacher(training_id: int, job: Job) -> None:
    """Process one shard of the teacher's similarities."""
    from foilworks.site.teacher.asking import ask_shard

    ask_shard(TeacherTraining.objects.get(pk=training_id), job)


def read_release(reading_id: int, job: Job) -> None:
    """Evaluate a release by a student before and after its training."""
    from foilworks.site.teacher.teaching import run_reading

    run_reading(StudentEvaluation.objects.select_related("training__project", "release").get(pk=reading_id), job)
