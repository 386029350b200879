"""Messages for the codes of annotation's rules, which are pure and contain no text for people."""

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext_lazy

from annotation.rules.editing import MAX_CHARACTERS, Finding, Problem
from annotation.rules.eligibility import Refusal
from annotation.rules.pausing import Reason
from annotation.rules.quizzes import Match
from generation.balance.opposites import Replacement

Words = str | Promise

# A page or program refers to a lease that has ended.
TIME_IS_UP = _("Your time for this task is up. Start the next one.")
# By the ending of the lease, where it says more.
ENDED: dict[str, Words] = {
    "submitted": _("You have already submitted your answer to this task. You can undo it for a short time."),
    "skipped": _("You skipped this task. It comes back at the end of the queue."),
    "cancelled": _("This task was cancelled. Start the next one."),
}

REFUSALS: dict[str, Words] = {
    Refusal.TASK_OVER: _("This task is done or was cancelled. Start the next one."),
    Refusal.MEDIA_MISSING: _("The video file is missing, so nobody can do this task. Start the next one."),
    Refusal.RESERVED: _("This task is reserved for its author. Start the next one."),
    Refusal.OWN_WORK: _("You wrote this foil, so someone else must review it. Start the next one."),
    Refusal.MADE_IT: _("You wrote or edited a foil for this video, so you cannot judge it. Start the next one."),
    Refusal.REVIEWED_IT: _("You reviewed a foil for this video, so you cannot judge it. Start the next one."),
    Refusal.JUDGED_IT: _("You have already judged an item of this video. Start the next one."),
    Refusal.SAME_ITEM: _("You have already answered this item. Start the next one."),
}

PROBLEMS: dict[str, Words] = {
    Problem.EMPTY: _("write a foil or skip the task"),
    Problem.CONTROL_CHARACTER: _("it contains a line break or an unprintable character; remove it"),
    Problem.SAME_AS_CAPTION: _("it is the same as the caption; change it so that it becomes false"),
    Problem.DUPLICATE: _("another foil of this caption has the same text; write a different one"),
    Problem.DROPPED_BEFORE: _("a reviewer has dropped this text; write a different one"),
    Problem.NOT_ONE_SENTENCE: _("it is more than one sentence"),
    Problem.SAME_ACTION: _("the action is the same as in the caption; change it"),
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
        "keep the people and things; removed words: %(number)s",
        "keep the people and things; removed words: %(number)s",
        "number",
    ),
}

REASONS: dict[str, Words] = {
    "still_true": _("still true of the video"),
    "not_minimal": _("changes more than necessary"),
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

# Why a person may not validate at the moment.
ADMISSION: dict[str, Words] = {
    "paused": _(
        "Your validation work is paused. Your answers are not lost. The project's researcher will check your "
        "answers and contact you. You can also contact the researcher."
    ),
    "qualification": _("Before you validate items, take the short qualification test."),
}

# Why a person is paused, as shown to the researcher.
PAUSED_WHY: dict[str, Words] = {
    Reason.GOLD: _("too many wrong answers on gold"),
    Reason.POSITION: _("almost always the same position"),
    Reason.SPEED: _("answers faster than the clip can be watched"),
    Reason.RESEARCHER: _("paused by a researcher"),
}

# How a foil from practice compares with the expert's.
MATCHES: dict[str, Words] = {
    Match.SAME: _("Correct: the expert wrote the same foil."),
    Match.SAME_PLACE: _("Correct: you changed the same words as the expert."),
    Match.ELSEWHERE: _("Incorrect: the expert changed different or fewer words."),
    Match.BROKEN: _("This text is not a foil of the caption."),
}

# Why a study gives out no place now, told before anybody takes one.
NO_ENTRY: dict[str, Words] = {
    "closed": _("This study is closed. Please return your submission on the platform."),
    "full": _("This study is full. Please return your submission on the platform."),
    "no work": _(
        "There are no tasks in this study right now, so no place is reserved for you. Try again later, or "
        "return your submission on the platform."
    ),
}

EMPTY: dict[str, Words] = {
    "archived": _("This project is archived, so nobody gets new tasks."),
    "nothing_yet": _("No tasks have reached this stage yet."),
    "all_done": _("All tasks of this stage are done."),
    "leased": _("reserved by other people; available again if those people do not finish"),
    "yours": _("that you have done or started"),
    "same_sentence": _("with a sentence that you saw in another pair"),
    "made_it": _("on videos that you wrote or edited a foil for"),
    "reviewed_it": _("on videos for which you reviewed, judged or decided something"),
    "reserved": _("sent back to their author"),
    "media_missing": _("whose video file is missing"),
    "declined": _("on videos that you skipped for their content"),
}


def of_finding(finding: Finding) -> str:
    """Return the finding's message, without the number of the text."""
    if finding.problem in _COUNTED:
        return str(_COUNTED[finding.problem] % {"number": finding.number, "most": MAX_CHARACTERS})
    return str(PROBLEMS[finding.problem])


def replacement_words(replacement: Replacement, n: int, n_back: int, n_missing: int) -> str:
    """Say how many foils make a replacement and its opposite; above 0, `n_missing` opposite ones would balance them."""
    names = {"removed": replacement.removed or "–", "inserted": replacement.inserted or "–"}
    counts = _("Foils that replace “%(removed)s” by “%(inserted)s”: %(n)s; the other way: %(n_back)s.")
    words = str(counts) % {**names, "n": n, "n_back": n_back}
    if n_missing == 0:
        return words
    if n_missing > 0:
        missing = ngettext_lazy(
            "To balance them, %(n)s foil the other way is missing.",
            "To balance them, %(n)s foils the other way are missing.",
            "n",
        )
    else:
        missing = ngettext_lazy(
            "To balance them, %(n)s foil like yours is missing.",
            "To balance them, %(n)s foils like yours are missing.",
            "n",
        )
    return f"{words} {missing % {'n': abs(n_missing)}}"
