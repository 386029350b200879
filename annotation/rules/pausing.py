"""When a validator is paused: three sequential tests on running counts. Pure.

Each test is a likelihood ratio, "answers like spammers" against "answers like careful people". It is checked after
every judgement and pauses the person when it exceeds 1/a. For careful people, such a ratio is a non-negative martingale
that starts at 1. By Ville's inequality, the share of them that EVER exceeds 1/a is at most a, for any working time and
number of checks (Wald's sequential test without its lower bound). The shares of the three tests add up to
`false_pauses`: half for gold, a quarter each for position and speed.

Gold: right with probability `careful` against `guess`. One wrong answer weighs log((1 - guess) / (1 - careful)), with
0.92 and 0.5 that is +1.83, one right answer log(guess / careful) = -0.61; a = 0.01 asks for 4.61. With
these values, three wrong answers among the first four pause a person, or four among the first eight; with three of four
right, the ratio does not change on average.

Position: of the answers "first" and "second", careful people give either half of the time, since the server puts the
caption first half of the time. The alternative: nine of ten in one position, either one. Eleven equal answers in a row
pause.

Speed: an answer is fast if it came before a share of the clip had passed. Careful people: at most a quarter of their
answers; the alternative: three quarters. The ratio exceeds 1/a only if far more than half are fast, so that the median
time is below the limit.
"""

import math
from dataclasses import dataclass
from enum import StrEnum


class Reason(StrEnum):
    GOLD = "gold"
    POSITION = "position"
    SPEED = "speed"
    RESEARCHER = "researcher"


@dataclass(frozen=True)
class JudgementCounts:
    """Counts of a person's judgements: gold seen and right; answers "first" and "second"; timed and fast ones."""

    gold_seen: int = 0
    gold_right: int = 0
    first: int = 0
    second: int = 0
    timed: int = 0
    fast: int = 0


@dataclass(frozen=True)
class Thresholds:
    """A project's rates of careful people and guessers; the minimum counts before a test may pause anybody."""

    careful: float = 0.92
    guess: float = 0.5
    false_pauses: float = 0.02
    gold_min: int = 4
    position_min: int = 10
    fast_min: int = 8


# Shares of `false_pauses`.
OF_GOLD, OF_POSITION, OF_SPEED = 0.5, 0.25, 0.25
# The alternatives to "either position half of the time" and "at most a quarter fast".
ONE_POSITION = 0.9
CAREFUL_FAST, HASTY_FAST = 0.25, 0.75
# Binary digits of `position_p`: more than twice as many as a float has.
DIGITS = 128


def suspicion(tally: JudgementCounts, bars: Thresholds) -> Reason | None:
    """Return why the counts so far should pause the person, or None. O(1): it reads counts only."""
    if tally.gold_seen >= bars.gold_min and gold_weight(tally, bars) >= _bar(bars, OF_GOLD):
        return Reason.GOLD
    if tally.first + tally.second >= bars.position_min and position_weight(tally) >= _bar(bars, OF_POSITION):
        return Reason.POSITION
    if tally.timed >= bars.fast_min and speed_weight(tally) >= _bar(bars, OF_SPEED):
        return Reason.SPEED
    return None


def gold_weight(tally: JudgementCounts, bars: Thresholds) -> float:
    """Log likelihood ratio of gold answers, guessing against careful; 0 if guessers are right as often."""
    if bars.guess >= bars.careful:
        return 0.0
    wrong = tally.gold_seen - tally.gold_right
    return wrong * math.log((1 - bars.guess) / (1 - bars.careful)) + tally.gold_right * math.log(
        bars.guess / bars.careful
    )


def position_weight(tally: JudgementCounts) -> float:
    """Log likelihood ratio of positions, mostly one of them against either half of the time."""
    n = tally.first + tally.second
    sides = [_logs(ONE_POSITION, n, count) for count in (tally.first, tally.second)]
    top = max(sides)
    return top + math.log(sum(math.exp(side - top) for side in sides) / 2) - n * math.log(0.5)


def speed_weight(tally: JudgementCounts) -> float:
    """Log likelihood ratio of times, mostly fast against seldom fast."""
    return _logs(HASTY_FAST, tally.timed, tally.fast) - _logs(CAREFUL_FAST, tally.timed, tally.fast)


def break_even_accuracy(bars: Thresholds) -> float:
    """Return the gold accuracy below which a person is paused sooner or later: there, the mean weight is 0."""
    if bars.guess >= bars.careful:
        return 0.0
    up = math.log((1 - bars.guess) / (1 - bars.careful))
    down = math.log(bars.careful / bars.guess)
    return up / (up + down)


def gold_until_pause(bars: Thresholds, accuracy: float, limit: int = 500) -> int | None:
    """Return after how many gold tasks half of the people with this accuracy are paused; None beyond `limit`.

    Exact: the probability of each number of right answers among those who are not paused.
    """
    working = {0: 1.0}
    for seen in range(1, limit + 1):
        shares: dict[int, float] = {}
        for right, share in working.items():
            for answer, p in ((1, accuracy), (0, 1 - accuracy)):
                shares[right + answer] = shares.get(right + answer, 0.0) + p * share
        working = {
            right: share
            for right, share in shares.items()
            if suspicion(JudgementCounts(gold_seen=seen, gold_right=right), bars) is None
        }
        if sum(working.values()) <= 0.5:
            return seen
    return None


def wilson(right: int, n_answers: int, z: float = 1.959964) -> tuple[float, float]:
    """Return Wilson's 95 % interval of a share; (0, 1) if nothing was seen."""
    if not n_answers:
        return 0.0, 1.0
    share, spread = right / n_answers, z * z / n_answers
    middle = (share + spread / 2) / (1 + spread)
    half_width = z * math.sqrt(share * (1 - share) / n_answers + spread / (4 * n_answers)) / (1 + spread)
    return max(0.0, middle - half_width), min(1.0, middle + half_width)


def position_p(first: int, second: int) -> float:
    """Return the two-sided exact binomial p-value of "either position half of the time"; 1 without answers."""
    n, fewer = first + second, min(first, second)
    # The tail is total / 2**halvings. The last digits of long numbers are dropped: with them, the time grows with n².
    term = total = 1 << DIGITS
    halvings = n + DIGITS
    for k in range(1, fewer + 1):
        term = term * (n - k + 1) // k
        total += term
        if term >> 2 * DIGITS:
            term, total, halvings = term >> DIGITS, total >> DIGITS, halvings - DIGITS
    return min(1.0, 2 * (total / (1 << halvings)))


def _logs(p: float, n: int, hits: int) -> float:
    return hits * math.log(p) + (n - hits) * math.log(1 - p)


def _bar(bars: Thresholds, share: float) -> float:
    return -math.log(bars.false_pauses * share)
