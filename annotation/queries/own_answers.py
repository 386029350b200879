"""A person's last answers as they gave them. Nothing reveals which text is the caption, or which pair is gold."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from heapq import nlargest

from django.db.models import Q

from annotation.models import Edit, ObjectAnswer, Review, Stage, Vote, VoteState
from annotation.models.stages import CHOICES, public_stage
from annotation.rules.baseline import place_of
from annotation.rules.voting import answer_of
from foilworks.core.corpus.models import Foil
from foilworks.core.projects.models import Project, User

# Answers that a search of one's own work reads at most.
SEARCHED = 500
Record = Edit | Review | Vote | ObjectAnswer


@dataclass(frozen=True)
class Given:
    """One answer: `code` names it in its stage's words; `texts` are what was shown or written, in the order shown."""

    at: datetime
    stage: str
    code: str
    texts: list[str] = field(compare=False)
    record: Record = field(compare=False)


def last_answers(project: Project, person: User, most: int) -> list[Given]:
    """Return the newest `most` answers that were not undone, newest first. Five queries."""
    found = [*_edits(project, person, most), *_reviews(project, person, most), *_objects(project, person, most)]
    return nlargest(most, [*found, *_votes(project, person, most)], key=lambda given: given.at)


def own_foils(project: Project, person: User, text: str, most: int) -> list[str]:
    """Return the newest foils that the person wrote with this text in them. One query, over their last edits."""
    texts = [each for given in _edits(project, person, SEARCHED) for each in given.texts]
    return [each for each in dict.fromkeys(texts) if text.casefold() in each.casefold()][:most]


def own_reviews(project: Project, person: User, text: str, most: int) -> list[str]:
    """Return the newest foils that the person reviewed with this text in them. One query, over their last reviews."""
    texts = [each for given in _reviews(project, person, SEARCHED) for each in given.texts]
    return [each for each in dict.fromkeys(texts) if text.casefold() in each.casefold()][:most]


def _edits(project: Project, person: User, most: int) -> Iterator[Given]:
    own = Edit.objects.filter(person=person, undone_at=None, group__run__project=project).order_by("-created_at")
    for edit in own[:most]:
        yield Given(edit.created_at, Stage.EDIT, "", list(edit.texts), edit)


def _reviews(project: Project, person: User, most: int) -> Iterator[Given]:
    own = Review.objects.filter(person=person, undone_at=None, candidate__group__run__project=project)
    for review in own.select_related("candidate").order_by("-created_at")[:most]:
        yield Given(review.created_at, Stage.REVIEW, review.decision, [review.candidate.text], review)


def _objects(project: Project, person: User, most: int) -> Iterator[Given]:
    own = ObjectAnswer.objects.filter(person=person, undone_at=None, frame__check_of__project=project)
    for answer in own.select_related("frame").order_by("-created_at")[:most]:
        seen = [name for name, visible in zip(answer.frame.objects_named, answer.visible, strict=False) if visible]
        yield Given(answer.created_at, Stage.OBJECTS, "", seen, answer)


def _votes(project: Project, person: User, most: int) -> Iterator[Given]:
    own = Vote.objects.filter(Q(item__subtest__project=project) | Q(gold__project=project), person=person)
    rows = own.exclude(state=VoteState.UNDONE).select_related("item__caption", "foil", "gold").order_by("-created_at")
    votes = list(rows[:most])
    asked = {pk for vote in votes for pk in vote.order_shown or () if pk}
    foils = dict(Foil.objects.filter(pk__in=asked).values_list("pk", "text")) if asked else {}
    for vote in votes:
        yield _of_a_choice(vote, foils) if vote.order_shown else _of_a_pair(vote)


def _of_a_choice(vote: Vote, foils: dict[int, str]) -> Given:
    answer = answer_of_choice(vote)
    shown = [foils.get(pk, "") if pk else vote.item.caption.text for pk in vote.order_shown]
    texts = [shown[int(answer) - 1]] if answer.isdecimal() else shown
    return Given(vote.created_at, vote.stage, answer, texts, vote)


def answer_of_choice(vote: Vote) -> str:
    """Return the answer to several texts as it was given: the place of the chosen one, or a word."""
    if vote.stage in CHOICES:
        return str(place_of(vote.order_shown, vote.foil_id))
    return str(vote.chosen_place or vote.choice)


def _of_a_pair(vote: Vote) -> Given:
    caption = vote.gold.caption_text if vote.gold else vote.item.caption.text
    foil = vote.gold.foil_text if vote.gold else (vote.foil.text if vote.foil else "")
    texts = [caption, foil] if vote.caption_first else [foil, caption]
    answer = answer_of(vote.choice, bool(vote.caption_first))
    return Given(vote.created_at, public_stage(vote.stage), answer, texts, vote)
