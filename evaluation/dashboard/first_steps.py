"""What a young project still needs on its way to a first release, in order. Pure: the counts of the dashboard in."""

from collections.abc import Mapping
from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

Words = str | Promise
# (what the step is, why, the page, what its button says, which counts tell that it is done)
STEPS: tuple[tuple[Words, Words, str, Words, tuple[str, ...]], ...] = (
    (
        _("Say what is tested"),
        _("A subtest is one phenomenon: direction, counting, change of state. It says how many people judge a pair."),
        "corpus:subtests",
        _("Make a subtest"),
        ("subtests", "items"),
    ),
    (
        _("Bring in videos and captions"),
        _("Each caption is a sentence that is true of its clip. Nothing is stored before you have seen what would be."),
        "evaluation:new_import",
        _("Import"),
        ("captions", "items"),
    ),
    (
        _("Make foils"),
        _("A run applies one method to the captions; filters drop what cannot be used."),
        "generation:new_run",
        _("New run"),
        ("made", "items"),
    ),
    (
        _("Bring in people"),
        _("Somebody writes, somebody else reviews, and others who saw neither judge: three for each pair, by default."),
        "annotation:people",
        _("Add people"),
        ("edited", "accepted", "judged"),
    ),
    (
        _("Let them work"),
        _(
            "What waits in which queue stands below. An item is valid when enough of its judges chose the caption."
        ),
        "annotation:work",
        _("Queues"),
        ("valid",),
    ),
    (
        _("Freeze a release"),
        _("It keeps the valid items under their hash. Models are scored on it, and it can have a public page."),
        "evaluation:freeze",
        _("Freeze"),
        ("released",),
    ),
)


@dataclass(frozen=True)
class FirstStep:
    """`is_next`: the first that is not done."""

    label: Words
    text: Words
    page: str
    action: Words
    is_done: bool
    is_next: bool


def first_steps(counts: Mapping[str, int]) -> list[FirstStep]:
    """`counts`: those of the funnel, with `subtests`. None once something is released."""
    if counts["released"]:
        return []
    done = [any(counts[name] for name in names) for *_words, names in STEPS]
    following = done.index(False)
    return [
        FirstStep(label, text, page, action, done[place], place == following)
        for place, (label, text, page, action, _names) in enumerate(STEPS)
    ]
