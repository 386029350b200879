"""Work for people: tasks with one row a slot, and what people gave: edits, reviews, votes.

The rules of docs/workflow.md#rules are constraints here wherever a database can hold them, and pure functions in
annotation/rules/ where it cannot.
"""

from annotation.models.assignments import Assignment
from annotation.models.comments import ItemComment
from annotation.models.guidelines import Guideline
from annotation.models.objects import (
    CheckedFrame,
    FrameObjects,
    FrameState,
    ObjectAnswer,
    ObjectCheck,
    ObjectError,
    ObjectErrorClass,
)
from annotation.models.pay import PayEntry, PayPolicy, PayRate
from annotation.models.quality import (
    Attempt,
    ExpertLabel,
    GoldPair,
    KnownAnswer,
    PracticeCaption,
    QualityPolicy,
    Question,
    Standing,
    Use,
)
from annotation.models.review_sampling import ReviewPolicy, ReviewRate
from annotation.models.stages import SlotState, Stage, TaskState
from annotation.models.tasks import Draft, Ending, Lease, SkipReason, Slot, Task
from annotation.models.work import Choice, DeclinedVideo, Edit, Involvement, Review, ReviewDecision, Vote, VoteState

__all__ = [
    "Assignment",
    "Attempt",
    "CheckedFrame",
    "Choice",
    "DeclinedVideo",
    "Draft",
    "Edit",
    "Ending",
    "ExpertLabel",
    "FrameObjects",
    "FrameState",
    "GoldPair",
    "Guideline",
    "Involvement",
    "ItemComment",
    "KnownAnswer",
    "Lease",
    "ObjectAnswer",
    "ObjectCheck",
    "ObjectError",
    "ObjectErrorClass",
    "PayEntry",
    "PayPolicy",
    "PayRate",
    "PracticeCaption",
    "QualityPolicy",
    "Question",
    "Review",
    "ReviewDecision",
    "ReviewPolicy",
    "ReviewRate",
    "SkipReason",
    "Slot",
    "SlotState",
    "Stage",
    "Standing",
    "Task",
    "TaskState",
    "Use",
    "Vote",
    "VoteState",
]
