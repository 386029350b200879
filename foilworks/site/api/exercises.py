"""Practice and the qualification: start one, read its questions, answer them."""

from typing import Any, Literal

from django.http import Http404
from django.utils.translation import gettext as _
from ninja import Field, Schema

from annotation.access import attempt_for
from annotation.actions.quality.qualification import answer_question, start_attempt
from annotation.models import Attempt, Question, Stage
from annotation.queries.cards import two_texts
from foilworks.core.corpus.video_files.player import Piece
from foilworks.core.projects.access import or_404
from foilworks.site.api.cards import clip_address
from foilworks.site.api.rows import Call, Rows
from foilworks.site.api.shapes import Text, Word

EXERCISE = "/exercises/{int:pk}"


class ExerciseIn(Schema):
    """`of_stage`: what is practised; the qualification is of validation."""

    stage: Literal["practice", "qualification"]
    of_stage: Literal["edit", "validation"] = "validation"


class ExerciseOut(Schema):
    """`next`: the place of the next open question; null at the end. `right`: right answers so far, at the end only."""

    id: int
    stage: str
    of_stage: str
    questions: int
    next: int | None
    right: int | None


class QuestionOut(Schema):
    """`texts`: the two to judge, or the caption to write `wanted` foils for. `is_right`: of an answered practice."""

    place: int
    texts: list[str]
    wanted: int
    clip: str
    is_answered: bool
    is_right: bool | None


class QuestionIn(Schema):
    """`answer`: first, second, neither, both or cannot_tell; or `texts`: the foils."""

    answer: Word = ""
    texts: list[Text] = Field([], max_length=99)


def _attempt(call: Call) -> Attempt:
    attempt = attempt_for(call.person, call.pk)
    if attempt.project_id != call.entered().pk:
        raise Http404(_("Exercise not found."))
    return attempt


def _exercise(attempt: Attempt) -> dict[str, Any]:
    questions = list(attempt.questions.order_by("place"))
    following = next((question.place for question in questions if question.answered_at is None), None)
    right = sum(bool(question.right) for question in questions) if following is None else None
    about = {"id": attempt.pk, "stage": attempt.stage, "of_stage": attempt.of_stage}
    return {**about, "questions": len(questions), "next": following, "right": right}


def _question(call: Call) -> dict[str, Any]:
    attempt = _attempt(call)
    rows = attempt.questions.select_related("pair__video", "practice__caption__video")
    question: Question = or_404(rows.filter(place=call.place).first(), _("Question not found."))
    video = question.pair.video if question.pair else question.practice.caption.video
    if question.pair:
        work = two_texts(question.pair.caption_text, question.pair.foil_text, bool(question.caption_first))
        texts, wanted = [work.first.text, work.second.text], 0
    else:
        texts, wanted = [question.practice.caption.text], question.practice.wanted
    _token, clip = clip_address(call.slug, call.person, video, Piece.QUESTION, question.pk)
    return {
        "place": question.place,
        "texts": texts,
        "wanted": wanted,
        "clip": clip,
        "is_answered": question.answered_at is not None,
        "is_right": question.right if attempt.stage == Stage.PRACTICE and question.answered_at else None,
    }


def _answer(call: Call) -> dict[str, Any]:
    attempt = _attempt(call)
    answer_question(call.person, attempt.pk, call.place, call.body["answer"] or call.body["texts"])
    return _exercise(Attempt.objects.get(pk=attempt.pk))


def _start(call: Call) -> dict[str, Any]:
    return _exercise(start_attempt(call.person, call.entered(), call.body["stage"], call.body["of_stage"]))


rows = Rows("exercises", checks_role=False)
rows.write(
    "/exercises",
    "start_exercise",
    "Start practice or the qualification, or continue it.",
    _start,
    body=ExerciseIn,
    shape=ExerciseOut,
)
rows.read(EXERCISE, "read_exercise", "Get your exercise.", lambda call: _exercise(_attempt(call)), ExerciseOut)
rows.read(f"{EXERCISE}/{{int:place}}", "read_question", "Get one question of your exercise.", _question, QuestionOut)
rows.write(
    f"{EXERCISE}/{{int:place}}",
    "answer_question",
    "Answer a question of your exercise.",
    _answer,
    body=QuestionIn,
    shape=ExerciseOut,
)
