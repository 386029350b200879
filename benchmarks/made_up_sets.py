"""Make fair sets of questions about no video; planted_shortcuts.py adds shortcuts of known strength.

Every maker takes a seeded generator and a number of items. A plant's truth is, by construction, the share of right
answers of a solver that knows the shortcut and guesses elsewhere.
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from foilworks.core.solver.questions import Row
from foilworks.core.solver.solution import HEADLINE, Tier

VERBS = """
    run walk jump sit open close lift drop push pull throw catch read write cook wash cut paint climb ride swim
    dance sing wave point shake kick roll spin fold
""".split()  # noqa: SIM905
NOUNS = """
    ball door box cup table chair book car bike dog cat horse tree lamp phone bag shirt knife bottle plate rope
    ladder guitar drum kite boat train bench fence wheel
""".split()  # noqa: SIM905
ADJECTIVES = """
    red blue green small large old new wooden metal plastic round square heavy light broken clean dirty wet dry
    striped
""".split()  # noqa: SIM905
DIRECTIONS = ["left", "right", "up", "down"]
Maker = Callable[[random.Random, int], list[Row]]


@dataclass(frozen=True)
class Plant:
    """A made-up set. `truth`: share of right answers of a solver that knows the shortcut, `tier`: that to compare."""

    make: Maker
    truth: float
    tier: Tier = HEADLINE


def action(draw: random.Random, nouns: Sequence[str] = NOUNS) -> str:
    return f"{draw.choice(VERBS)} the {draw.choice(ADJECTIVES)} {draw.choice(nouns)}"


def actions(draw: random.Random, count: int, nouns: Sequence[str] = NOUNS) -> list[str]:
    """Return different actions."""
    texts: dict[str, None] = {}
    while len(texts) < count:
        texts[action(draw, nouns)] = None
    return list(texts)


def without(values: Sequence[str], *excluded: str) -> list[str]:
    return [value for value in values if value not in excluded]


def choice(draw: random.Random, question: str, options: Sequence[str], video: str, **facts: object) -> Row:
    """Return a question whose first option is right, with its options in random order."""
    right, *wrongs = options
    draw.shuffle(wrongs)
    return Row(right, tuple(wrongs), draw.randrange(len(options)), question, video, **facts)  # type: ignore[arg-type]


def label(question: str, is_yes: bool, video: str, **facts: object) -> Row:
    """Return a yes-no question."""
    right, wrong = ("yes", "no") if is_yes else ("no", "yes")
    return Row(right, (wrong,), None, question, video, is_label=True, **facts)  # type: ignore[arg-type]


def four_actions(
    change: Callable[[random.Random, list[str]], None], question: str = "What does the person do?"
) -> Maker:
    """Return a maker of questions with 4 actions, the first right, that `change` edits."""

    def make(draw: random.Random, n: int) -> list[Row]:
        rows = []
        for i in range(n):
            options = actions(draw, 4)
            change(draw, options)
            rows.append(choice(draw, question, options, f"v{i}"))
        return rows

    return make


def pairs_of(change: Callable[[random.Random, list[str]], None]) -> Maker:
    """Return a maker of captions with one foil, whose texts `change` edits."""

    def make(draw: random.Random, n: int) -> list[Row]:
        rows = []
        for i in range(n):
            options = actions(draw, 2)
            change(draw, options)
            rows.append(Row(options[0], (options[1],), video=f"v{i}"))
        return rows

    return make


def favourite(draw: random.Random, strength: float, text: str, pool: Sequence[str], size: int = 4) -> list[str]:
    """Return options of which `text` is right with a probability of `strength`, else one of the pool."""
    others = without(pool, text)
    draw.shuffle(others)
    if draw.random() < strength:
        return [text, *others[: size - 1]]
    return [others[0], text, *others[1 : size - 1]]


# Fair sets


def unchanged(draw: random.Random, options: list[str]) -> None:
    """Leave the options as they are."""


def fair_pairs(draw: random.Random, n: int) -> list[Row]:
    """Return captions and foils from the same words."""
    return pairs_of(unchanged)(draw, n)


def fair_questions(draw: random.Random, n: int) -> list[Row]:
    """Return questions with 4 options, 4 per clip."""
    return [choice(draw, f"What does the person do in part {i % 4}?", actions(draw, 4), f"v{i // 4}") for i in range(n)]


def mirrored_pairs(draw: random.Random, n: int) -> list[Row]:
    """Return minimal video pairs: the same question and options, opposite answers."""
    rows = []
    for i in range(n // 2):
        options = actions(draw, 2)
        text = f"What does the person do with the {draw.choice(NOUNS)}?"
        first = draw.randrange(2)
        for clip in (0, 1):
            answer = (first + clip) % 2
            rows.append(Row(options[answer], (options[1 - answer],), answer, text, video=f"v{i}_{clip}"))
    return rows


def balanced_templates(draw: random.Random, n: int) -> list[Row]:
    """Return yes-no questions that are asked of 20 clips each, half of them yes."""
    rows = []
    for at, text in enumerate(actions(draw, max(1, n // 20))):
        is_yes = [True, False] * 10
        draw.shuffle(is_yes)
        rows += [label(f"Does the person {text}?", yes, f"v{at}_{clip}") for clip, yes in enumerate(is_yes)]
    draw.shuffle(rows)
    return rows


def random_templates(draw: random.Random, n: int) -> list[Row]:
    """Return yes-no questions that are asked of 20 clips each, with random answers."""
    texts = actions(draw, max(1, n // 20))
    rows = [
        label(f"Does the person {text}?", draw.random() < 0.5, f"v{at}_{clip}")
        for at, text in enumerate(texts)
        for clip in range(20)
    ]
    draw.shuffle(rows)
    return rows


FAIR: dict[str, Maker] = {
    "pairs": fair_pairs,
    "questions, 4 per clip": fair_questions,
    "mirrored pairs": mirrored_pairs,
    "templates, balanced answers": balanced_templates,
    "templates, random answers": random_templates,
}
