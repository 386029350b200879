"""Import answers without options, queue their judge, and store what people say of a sample."""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from django.core.files.uploadedfile import UploadedFile
from django.db import transaction
from django.utils.translation import gettext as _

from evaluation.errors import EvaluationError
from evaluation.open_answers.models import AnswerJudgement, OpenAnswer, OpenAnswerSet
from evaluation.score_files.open_answers import OpenRow, open_rows, open_table
from evaluation.score_files.uploaded_files import safe_name, write_file
from evaluation.scoring.queries import records_of
from evaluation.scoring.run_request import MAX_LABEL_LENGTH
from foilworks.core.corpus.models import Release
from foilworks.core.corpus.release_records import cluster
from foilworks.core.hub.catalogue.registry import CHATS, ENDPOINT
from foilworks.core.jobs.queue import enqueue
from foilworks.core.projects.access import require_researcher
from foilworks.core.projects.audit_trail import recording as audit
from foilworks.core.projects.models import User
from foilworks.core.text.quoting import quoted
from generation.instruction_models.endpoints import endpoint_and_model
from generation.model_paths import absolute_argument
from generation.screening.registry import JUDGES

JOB = "answers.judge"
MAX_ANSWERS, MAX_TEXT, ROWS_PER_QUERY = 100_000, 10_000, 1_000


def import_open_answers(
    person: User | None,
    release: Release,
    answers: UploadedFile | Path,
    *,
    columns: Mapping[str, str] | None = None,
    label: str = "",
    judge: str = "",
) -> OpenAnswerSet:
    """Store the answers of a file, and queue their judge if one is named (`set.job`). `person` None is the operator.

    The right answer is that of the row, else the right option of the release's item with the id. AccessDenied;
    EvaluationError: the file cannot be read, an answer has no right one, or the judge cannot judge.
    """
    require_researcher(person, release.project)
    judge = checked_judge(judge, release, is_person=person is not None)
    if isinstance(answers, Path):
        return _imported(person, release, answers, columns, label or answers.stem, judge)
    with TemporaryDirectory() as folder:
        path = Path(folder) / safe_name(answers.name or "")
        write_file(answers, path)
        try:
            return _imported(person, release, path, columns, label or path.stem, judge)
        except EvaluationError as error:
            # Only the file name: users do not know the folder.
            raise EvaluationError(str(error).replace(f"{folder}/", "")) from error


def checked_judge(judge: str, release: Release, *, is_person: bool) -> str:
    """Return the spec of a judge with a whole path, "" for none. EvaluationError, GenerationError: it cannot judge."""
    judge = judge.strip()
    if not judge:
        return ""
    slug, _colon, argument = judge.partition(":")
    if slug == ENDPOINT:
        endpoint, model = endpoint_and_model(argument)
        return f"{ENDPOINT}:{endpoint.name}/{model}"
    if slug in JUDGES:
        return judge
    if slug not in CHATS:
        known = ", ".join([*CHATS, *JUDGES])
        raise EvaluationError(f"judge {quoted(judge)} is not a model that answers; begin with one of: {known}")
    return f"{slug}:{absolute_argument(argument, release.project if is_person else None)}"


@transaction.atomic
def _imported(
    person: User | None, release: Release, path: Path, columns: Mapping[str, str] | None, label: str, judge: str
) -> OpenAnswerSet:
    rows = open_rows(open_table(path, columns))
    if len(rows) > MAX_ANSWERS:
        raise EvaluationError(f"{path}: has {len(rows)} answers, more than {MAX_ANSWERS}; split the file")
    answer_set = OpenAnswerSet.objects.create(
        release=release,
        label=label.strip()[:MAX_LABEL_LENGTH],
        sha256=hashlib.sha256(path.read_bytes()).hexdigest(),
        judge=judge,
        created_by=person,
    )
    OpenAnswer.objects.bulk_create(_answers(answer_set, path, rows), ROWS_PER_QUERY)
    if judge:
        title = _("Verdicts on %(label)s") % {"label": answer_set.label}
        answer_set.job = enqueue(JOB, answer_set.pk, title=title, project_id=release.project_id)
        answer_set.save(update_fields=["job"])
    details = {"label": answer_set.label, "answers": len(rows), "judge": judge, "release": release.pk}
    audit.record(audit.event(release.project, person, "evaluation.import_open_answers", answer_set, **details))
    return answer_set


def _answers(answer_set: OpenAnswerSet, path: Path, rows: list[OpenRow]) -> list[OpenAnswer]:
    records = {record["id"]: record for record in records_of(answer_set.release)}
    stored = []
    for row in rows:
        record = records.get(row.id)
        facts = record["facts"] if record else {}
        options, right = facts.get("options"), facts.get("answer")
        own = str(options[right]) if isinstance(options, list) and isinstance(right, int) else ""
        reference = row.reference or own
        if not reference:
            raise EvaluationError(
                f"{path}: right: {quoted(row.id)} has no right answer, and the release has no question with this id; "
                "name the column of the right answers, such as right=ground_truth"
            )
        stored.append(
            OpenAnswer(
                answer_set=answer_set,
                key=row.id[:200],
                question=(row.question or str(facts.get("question") or ""))[:MAX_TEXT],
                reference=reference[:MAX_TEXT],
                text=row.answer[:MAX_TEXT],
                kind=(row.kind or (record["subtest"] if record else ""))[:120],
                cluster=(row.cluster or (cluster(record["video"]) if record else f"item {row.id}"))[:310],
            )
        )
    return stored


@transaction.atomic
def judge_sample(person: User, answer_set: OpenAnswerSet, verdicts: Mapping[int, bool]) -> int:
    """Store what a person says of answers of the set, {row: right}; a new verdict replaces theirs. Return how many.

    AccessDenied without the researcher's role; EvaluationError: no verdict, or an answer of another set.
    """
    project = answer_set.release.project
    require_researcher(person, project)
    known = set(OpenAnswer.objects.filter(answer_set=answer_set, pk__in=verdicts).values_list("pk", flat=True))
    if not verdicts or known != verdicts.keys():
        raise EvaluationError(_("Choose right or wrong for at least one answer of this page."))
    AnswerJudgement.objects.bulk_create(
        [AnswerJudgement(answer_id=pk, person=person, is_right=is_right) for pk, is_right in verdicts.items()],
        update_conflicts=True,
        update_fields=["is_right", "judged_at"],
        unique_fields=["answer", "person"],
    )
    audit.record(audit.event(project, person, "evaluation.judge_open_answers", answer_set, answers=len(verdicts)))
    return len(verdicts)
