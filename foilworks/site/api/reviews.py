"""Decide on many candidates at once."""

from typing import Any, Literal

from django.http import HttpRequest
from ninja import Field, Router, Schema

from annotation.actions.submissions.reviews import MAX_REVIEWS, ReviewAnswer, review_many
from foilworks.core.projects.access import get_project
from foilworks.core.projects.models import Role
from foilworks.site.api.answers import RefusedFields, writes
from foilworks.site.api.bearer import WORK
from foilworks.site.api.idempotency import once
from foilworks.site.api.shapes import Id, Slug, Text, Word

router = Router(tags=["work"])


class ReviewIn(Schema):
    """`candidate`: its id, as `runs/ID/candidates` lists it. A drop needs `reasons`, as the page has them."""

    candidate: Id
    decision: Literal["accept", "drop"]
    reasons: list[Word] = Field([], max_length=20)
    comment: Text = ""


class ReviewsIn(Schema):
    reviews: list[ReviewIn] = Field(min_length=1, max_length=MAX_REVIEWS)


class ReviewsOut(Schema):
    """`done`: the review of each candidate; `refused`: candidates that you may not decide on now."""

    done: dict[int, int]
    refused: list[int]


@router.post("", response=writes(ReviewsOut), auth=WORK)
@once
def review_candidates(request: HttpRequest, slug: Slug, body: ReviewsIn) -> Any:
    """Accept or drop many candidates, as if you had claimed and submitted each; return or fix candidates one by one."""
    project = get_project(request.user, slug, Role.REVIEWER)
    answers = {row.candidate: ReviewAnswer(row.decision, row.reasons, row.comment) for row in body.reviews}
    if len(answers) < len(body.reviews):
        raise RefusedFields({"reviews": "A candidate is named twice. Send each once."})
    return review_many(request.user, project, answers)
