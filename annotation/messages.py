"""Words for the codes of annotation's rules; the rules are pure, so what people read stands here."""

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext_lazy

from annotation.rules.editing import MAX_CHARACTERS, Finding, Problem
from annotation.rules.eligibility import Refusal
from annotation.rules.pausing import Reason
from annotation.rules.quizzes import Match

Words = str | Promise

REFUSALS: dict[str, Words] = {
    Refusal.TASK_OVER: _("This work is done or was cancelled; take the next."),
    Refusal.MEDIA_MISSING: _("The video's file is missing, so nobody can work on it; take the next."),
    Refusal.RESERVED: _("This piece waits for its author; take the next."),
    Refusal.OWN_WORK: _("You wrote this one yourself, so somebody else has to look at it; take the next."),
    Refusal.MADE_IT: _("You wrote or edited a foil for this video, so you cannot judge it; take the next."),
    Refusal.REVIEWED_IT: _("You reviewed a foil for this video, so you cannot judge it; take the next."),
    Refusal.JUDGED_IT: _("You judged an item of this video before; take the next."),
    Refusal.SAME_ITEM: _("You have answered this item already; take the next."),
}

PROBLEMS: dict[str, Words] = {
    Problem.EMPTY: _("write a foil or skip the task"),
    Problem.CONTROL_CHARACTER: _("it holds a line break or an unprintable character; remove it"),
    Problem.SAME_AS_CAPTION: _("it says the same as the caption; change what makes it false"),
    Problem.DUPLICATE: _("another foil of this caption says the same; write a different one"),
    Problem.DROPPED_BEFORE: _("a reviewer has dropped this very text; write a different one"),
    Problem.NOT_ONE_SENTENCE: _("it is more than one sentence"),
    Problem.SAME_ACTION: _("what happens is as in the caption; change the action"),
}
_COUNTED = {
    Problem.TOO_LONG: ngettext_lazy(
        "it has %(number)s character; at most %(most)s are allowed",
        "it has %(number)s characters; at most %(most)s are allowed",
        "number",
    ),
    Problem.MANY_CHANGED_WORDS: ngettext_lazy(
        "%(number)s word changed; a foil is a small edit",
        "%(number)s words changed; a foil is a small edit",
        "number",
    ),
    Problem.ENTITY_CHANGED: ngettext_lazy(
        "people and things stay; words gone: %(number)s",
        "people and things stay; words gone: %(number)s",
        "number",
    ),
}

REASONS: dict[str, Words] = {
    "still_true": _("still true of the video"),
    "not_minimal": _("changes more than it must"),
    "implausible": _("not plausible in this context"),
    "grammar": _("language or spelling"),
    "other_entity_changed": _("another entity changed"),
    "off_guideline": _("against the guidelines"),
    "other": _("other (see the comment)"),
}

SETTLED: dict[str, Words] = {
    "foil_false": _("the foil is false of the video"),
    "foil_true": _("the foil is true of the video, too"),
    "caption_false": _("the caption is not true of the video"),
    "not_visible": _("the video does not show it"),
    "wording": _("one of the texts can be read in two ways"),
    "other": _("other (see the comment)"),
}

# Why somebody may not validate for now.
ADMISSION: dict[str, Words] = {
    "paused": _(
        "Your judging is paused for now; nothing that you did is lost. The project's researcher will look at it and "
        "come back to you. You can ask them too."
    ),
    "qualification": _("Before you judge here, please take the short qualification test."),
}

# Why somebody is paused, for the researcher.
PAUSED_WHY: dict[str, Words] = {
    Reason.GOLD: _("too many wrong answers on gold"),
    Reason.POSITION: _("nearly always the same place"),
    Reason.SPEED: _("answers before the clip can have been watched"),
    Reason.RESEARCHER: _("by a researcher"),
}

# How a foil that was written in practice compares with the expert's.
MATCHES: dict[str, Words] = {
    Match.SAME: _("Right: the expert wrote the same."),
    Match.SAME_PLACE: _("Right: you changed the words that the expert changed."),
    Match.ELSEWHERE: _("Not quite: the expert changed other words, or fewer."),
    Match.BROKEN: _("This is no foil of the caption."),
}

EMPTY: dict[str, Words] = {
    "nothing_yet": _("No work has reached this stage yet."),
    "all_done": _("Everything in this stage is done."),
    "leased": _("taken by others right now; free again when their time is up"),
    "yours": _("on pieces that you have done or hold"),
    "same_sentence": _("with a sentence that you have read with another one: somebody else judges these"),
    "made_it": _("on videos that you wrote or edited a foil for"),
    "reviewed_it": _("on videos that you reviewed, judged or settled something of"),
    "reserved": _("returned pieces that wait for their author"),
    "media_missing": _("whose video file is missing"),
    "declined": _("on videos that you skipped for their content"),
}


def of_finding(finding: Finding) -> str:
    """The finding in words, without the number of the text."""
    if finding.problem in _COUNTED:
        return str(_COUNTED[finding.problem] % {"number": finding.number, "most": MAX_CHARACTERS})
    return str(PROBLEMS[finding.problem])
