"""The user study of UTD by seven simulated people: which extracted objects do they see? (UTD, Secs. 4.2 and C.3)."""

import json
import random
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from annotation.actions.studies import classify_object, import_objects, open_object_check
from annotation.actions.submissions.study_answers import submit_objects
from annotation.models import CheckedFrame, ObjectErrorClass, Stage
from annotation.queries.object_checks import next_unseen
from evaluation.reports.reports import project_report
from evaluation.utd.models import Descriptions
from evaluation.utd.utd_files import objects_lines
from foilworks.core.corpus.models import Video
from foilworks.core.jobs.models import Job, JobState
from foilworks.core.projects.models import Project, Role
from foilworks.site.reproduction.shared_steps import done
from foilworks.site.reproduction.simulated_people import SECONDS, Crew, give_clips, key_of, mistaken
from foilworks.site.reproduction.table_cells import Caveat, Cell, compare, not_given
from foilworks.site.reproduction.utd_data import PAGE
from foilworks.site.reproduction.utd_printed import USER_STUDY

TABLE = "UTD, Sec. 4.2 (user study)"
STUDIED = "UCF"
SOURCE = "descriptions"
NOT_SEEN = 1 - USER_STUDY["visible"] / USER_STUDY["objects"]
# The paper's classes of the objects that people did not see.
CLASS_OF = {
    "hallucination": ObjectErrorClass.HALLUCINATION,
    "misclassification": ObjectErrorClass.MISCLASSIFICATION,
    "object visible": ObjectErrorClass.ANNOTATION_MISTAKE,
    "attribute error": ObjectErrorClass.ATTRIBUTE,
    "other": ObjectErrorClass.OTHER,
}
SIMULATED = Caveat(
    "simulated",
    "seven simulated people, who miss 12.4 % of the objects as in the paper; it says nothing about real people",
)


def study_cells(descriptions: Mapping[str, Descriptions], work: Path, seed: int) -> Iterator[Cell]:
    """Yield the numbers of the study beside those of a simulated one on the described frames of UCF101."""
    described = descriptions.get(STUDIED)
    reproduced = _study(described, work, seed) if described else {}
    caveat = SIMULATED if reproduced else not_given("descriptions of UCF101", PAGE)
    for row, paper in USER_STUDY.items():
        yield compare(TABLE, row, STUDIED, float(paper), reproduced.get(row), digits=1, caveat=caveat)


def _study(described: Descriptions, work: Path, seed: int) -> dict[str, float]:
    project = described.project
    crew = Crew(project, seed)
    crew.join(Role.RESEARCHER, 1)
    crew.join(Role.ANNOTATOR, int(USER_STUDY["people"]), misses_an_object=round(NOT_SEEN, 3))
    lines = _lines(described, seed)
    if not lines:
        return {}
    give_clips(project, work, {json.loads(line)["video"] for line in lines})
    import_objects(crew.owner, project, lines, name="objects.jsonl", source=SOURCE)
    source = described.describer[:100] or SOURCE
    check = open_object_check(crew.owner, project, source, size=int(USER_STUDY["frames"]), seed=seed)
    for job in Job.objects.filter(project_id=project.pk, state=JobState.WAITING, target_id=check.pk):
        done(job)
    _answer(crew, _missed(check.pk, seed))
    _classify(crew, check)
    return _numbers(project)


def _lines(described: Descriptions, seed: int) -> list[str]:
    """Return the named objects of the frames of as many test videos as the paper studied, drawn by the seed."""
    videos = Video.objects.filter(project=described.project).exclude(split="train")
    by_video: dict[str, list[str]] = {key: [] for key in videos.values_list("key", flat=True)}
    for line in objects_lines(described):
        if (lines_of_video := by_video.get(json.loads(line)["video"])) is not None:
            lines_of_video.append(line)
    keys = sorted(key for key, lines in by_video.items() if lines)
    sampled_keys = random.Random(f"{seed}/frames").sample(keys, min(len(keys), int(USER_STUDY["frames"])))
    return [line for key in sorted(sampled_keys) for line in by_video[key]]


def _missed(check: int, seed: int) -> frozenset[str]:
    frames = CheckedFrame.objects.filter(check_of=check).values_list("pk", "objects_named")
    return mistaken([f"{pk}/{at}" for pk, objects in frames for at in range(len(objects))], NOT_SEEN, seed, "objects")


def _answer(crew: Crew, missed: frozenset[str]) -> None:
    for person, claimed in crew.work(Role.ANNOTATOR, Stage.OBJECTS):
        frame = CheckedFrame.objects.get(tasks__pk=claimed.task_id)
        answers = {str(at): "no" if f"{frame.pk}/{at}" in missed else "yes" for at in range(len(frame.objects_named))}
        submit_objects(person, claimed.token, key_of(claimed), answers, seconds=SECONDS)


def _classify(crew: Crew, check: Any) -> None:
    """Class the missed objects in the paper's proportions, in turn."""
    classes = [CLASS_OF[name] for name in CLASS_OF for _ in range(int(USER_STUDY[name]))]
    step, at = 37, 0
    while unseen := next_unseen(check):
        classify_object(crew.owner, crew.project, unseen.frame.pk, unseen.place, classes[at % len(classes)])
        at += step


def _numbers(project: Project) -> dict[str, float]:
    report = project_report(project, "objects")
    row = report["overall"]
    names = {error_class.value: name for name, error_class in CLASS_OF.items()}
    return {
        "people": USER_STUDY["people"],
        "frames": row["n_frames"],
        "objects": row["n_objects"],
        "visible": row["n_visible"],
        "visible, %": 100 * row["visible"],
        "hallucination rate, %": 100 * row["hallucination_rate"],
        **{names[row_of_class["class"]]: row_of_class["n"] for row_of_class in report["classes"]},
    }
