"""Turn what an audit measured into findings: a value, its interval, chance, and a verdict."""

from collections import Counter
from dataclasses import asdict
from typing import Any

import scipy

from evaluation.audit.divergence import Divergence
from evaluation.audit.file_reader import Problems
from evaluation.audit.gathering import Counts, FileStatistics
from evaluation.audit.model_probe import ModelResult
from evaluation.audit.records import VERDICTS, Finding, Verdict
from evaluation.audit.tuned_probe import TunedResult
from evaluation.metrics.intervals import exact_binomial, wilson
from foilworks.core.solver.solution import Solution

CLEAR: Verdict = "nothing_found"
# Above chance by this part of the way to 1, a constant answer solves a benchmark: 60 % of pairs, 36 % of five options.
SOLVED_SKILL = 0.2
# With fewer items, the interval of a constant answer is too wide to fail a file.
MIN_ITEMS = 20
SURE = 0.05
# Shares of items: more of them fail.
FEW = 0.01
CUE_WARN, CUE_FAIL = 0.1, 0.3
SMALL_SUBTEST = 50
TOP_WORDS = 10
# Why a check has no value, as a clause.
NO_PAIRS = "no item has a foil that is an edit of its caption"
ONLY_LABELS = "right and wrong are labels"
NO_ITEMS = "no item has a text to compare"


def of_file_tier(solution: Solution | None) -> Finding:
    """Return what the file's order, ids and times add to what texts give away. It fails if they add more than chance
    would: shuffling the file removes it.
    """
    if solution is None:
        return Finding("file", CLEAR, details={"reason": NO_ITEMS})
    tier, texts = solution.tiers["file"], solution.headline
    is_own = tier.verdict == "fail" and tier.value - texts.value > (texts.interval[1] - texts.interval[0]) / 2
    verdict: Verdict = "fail" if is_own else CLEAR
    details = {"unit": "items", "with_file": tier.value, "texts": texts.value}
    return Finding("file", verdict, max(0.0, tier.value - texts.value), None, None, tier.n, "", details)


def of_model(result: ModelResult | None, subtest: str = "") -> Finding:
    """Return the finding of a language model that chooses the likeliest text."""
    if result is None:
        return Finding("model", CLEAR, subtest=subtest, details={"reason": NO_ITEMS})
    return _of_model("model", result, subtest, {})


def of_tuned(result: TunedResult) -> list[Finding]:
    """Return the findings of a tuned language model: what it knows, and what it learns from the other folds."""
    learned = {name: value for name, value in asdict(result).items() if name not in {"knows", "learns"}}
    return [_of_model("knows", result.knows, "", {}), _of_model("learns", result.learns, "", learned)]


def _of_model(check: str, result: ModelResult, subtest: str, more: dict[str, Any]) -> Finding:
    details = {"probe": result.name, "unit": "items", "parameters": result.n_parameters, **more}
    interval = list(result.interval)
    return Finding(check, result.verdict, result.value, interval, result.chance, result.n, subtest, details)


def of_divergence(divergence: Divergence | None, n: int, subtest: str = "", reason: str = "") -> Finding:
    """Return the finding of lexical divergence; chance is what exchanged sides give."""
    if divergence is None:
        details = {"reason": reason or "the texts have too few words"}
        return Finding("divergence", CLEAR, n=n, subtest=subtest, details=details)
    verdict: Verdict = "warn" if divergence.js > divergence.limit else CLEAR
    measured = {"unit": "items", "limit": divergence.limit}
    return Finding("divergence", verdict, divergence.js, divergence.interval, divergence.chance, n, subtest, measured)


def of_positions(counts: Counts, subtest: str = "") -> Finding:
    """Return how often the most frequent position is right, with the exact test against equal positions.

    The p value is the binomial test of each position, times the number of positions (Bonferroni). Only the most
    frequent number of options counts.
    """
    if not counts.positions:
        return Finding("position", CLEAR, subtest=subtest, details={"reason": "the file does not order the options"})
    n_options, positions = max(counts.positions.items(), key=lambda pair: (pair[1].total(), -pair[0]))
    n, chance = positions.total(), 1 / n_options
    top, hits = max(positions.items(), key=lambda pair: (pair[1], -pair[0]))
    p = min(1.0, n_options * min(_binomial_p(positions[position], n, chance) for position in range(n_options)))
    skill = (hits / n - chance) / (1 - chance)
    verdict: Verdict = CLEAR if p >= SURE else ("fail" if skill > SOLVED_SKILL and n >= MIN_ITEMS else "warn")
    details = {
        "unit": "items",
        "options": n_options,
        "count": hits,
        "position": top + 1,
        "places": [positions[position] for position in range(n_options)],
        "p": p,
    }
    return Finding("position", verdict, hits / n, exact_binomial(hits, n), chance, n, subtest, details)


def of_labels(counts: Counts, subtest: str = "") -> Finding:
    """Return the share of the more frequent label, with the exact test against equal shares."""
    n, hits = counts.labels.total(), max(counts.labels.values())
    p = _binomial_p(hits, n, 0.5)
    solved = 2 * hits / n - 1 > SOLVED_SKILL and n >= MIN_ITEMS
    verdict: Verdict = CLEAR if p >= SURE else ("fail" if solved else "warn")
    details = {"unit": "items", "count": hits, "yes": counts.labels[True], "no": counts.labels[False], "p": p}
    return Finding("labels", verdict, hits / n, exact_binomial(hits, n), 0.5, n, subtest, details)


def _binomial_p(hits: int, n: int, chance: float) -> float:
    """Return the two-sided p of the exact binomial test, twice the smaller tail."""
    below = float(scipy.special.bdtr(hits, n, chance))
    above = float(scipy.special.bdtrc(hits - 1, n, chance)) if hits else 1.0
    return min(1.0, 2 * min(below, above))


def of_cues(counts: Counts, subtest: str = "") -> Finding:
    """Return the share of pairs in which the most one-sided word points to the answer."""
    if not counts.compared or not counts.more:
        reason = "no word is only in right or only in wrong texts" if counts.compared else _without_pairs(counts)
        return Finding("cues", CLEAR, n=counts.compared, subtest=subtest, details={"reason": reason})
    ranked = sorted(counts.more.items(), key=lambda pair: (-abs(pair[1]), pair[0]))[:TOP_WORDS]
    excess = abs(ranked[0][1])
    interval = wilson(excess, counts.compared)
    low = interval[0] if interval else 0.0
    verdict: Verdict = "fail" if low > CUE_FAIL else ("warn" if low > CUE_WARN else CLEAR)
    cue_words = [{"word": word, "side": "wrong" if n > 0 else "right", "pairs": abs(n)} for word, n in ranked]
    details = {"unit": "pairs", "count": excess, "words": cue_words}
    return Finding("cues", verdict, excess / counts.compared, interval, None, counts.compared, subtest, details)


def _without_pairs(counts: Counts) -> str:
    return ONLY_LABELS if counts.labels.total() == counts.items else NO_PAIRS


def of_edits(counts: Counts, subtest: str = "") -> Finding:
    """Return the share of pairs whose texts differ in at most two words; a description without a verdict of its own."""
    small = sum(n for size, n in counts.changed.items() if size <= 2)
    details: dict[str, Any] = {
        "unit": "pairs",
        "count": small,
        "changed": {str(size): counts.changed[size] for size in sorted(counts.changed)},
        "reordered": counts.reordered,
    }
    if not counts.compared:
        details["reason"] = _without_pairs(counts)
    share = small / counts.compared if counts.compared else None
    return Finding("edits", CLEAR, share, wilson(small, counts.compared), None, counts.compared, subtest, details)


def of_same_texts(statistics: FileStatistics) -> Finding:
    """Return how many wrong texts have the words of their right text.

    Equal texts fail if the record names its video: nobody can tell which text is true of it. Without a video they warn.
    The record may be one statement about two clips, which the file does not name, and then the clips tell them apart.
    """
    repeats, n = statistics.repeats, statistics.overall.pairs
    surely = repeats.n_equal - repeats.n_equal_without_video
    verdict: Verdict = "fail" if surely else ("warn" if repeats.n_same or repeats.n_equal or repeats.n_twice else CLEAR)
    details = {
        "unit": "pairs",
        "count": repeats.n_same,
        "equal": repeats.n_equal,
        "equal_without_video": repeats.n_equal_without_video,
        "same_words": repeats.n_same,
        "twice": repeats.n_twice,
    }
    return Finding("same_texts", verdict, _share(repeats.n_same, n), wilson(repeats.n_same, n), None, n, "", details)


def of_duplicates(statistics: FileStatistics) -> Finding:
    """Return the share of items that repeat an earlier one: same video, question and words.

    Only repeats that name a video fail. Two items with equal texts and no video may be about two videos, which the file
    does not name: they warn, because they may also be one item twice.
    """
    n_repeated, without_video, first = statistics.repeats.repeated_items()
    n = statistics.overall.items
    surely = _verdict_of_rare_hits(n_repeated - without_video, n)
    verdict: Verdict = "warn" if surely == CLEAR and n_repeated else surely
    details = {
        "unit": "items",
        "count": n_repeated,
        "first": first,
        "repeated": n_repeated,
        "repeated_without_video": without_video,
        "captions": statistics.repeats.distinct_captions(),
    }
    return Finding("duplicates", verdict, _share(n_repeated, n), wilson(n_repeated, n), None, n, "", details)


def of_contradictions(statistics: FileStatistics) -> Finding:
    """Return the share of foils that another item of the same video has as its caption."""
    n = len(statistics.repeats.foils_of_videos)
    hits = statistics.repeats.contradictions()
    reason = {} if n else {"reason": "the file names no videos, or asks questions"}
    details = {"unit": "pairs", "count": hits, "foils": hits, **reason}
    return Finding(
        "contradictions", _verdict_of_rare_hits(hits, n), _share(hits, n), wilson(hits, n), None, n, "", details
    )


def of_leakage(statistics: FileStatistics) -> Finding:
    """Return the share of test items whose video is in another split."""
    leaks = statistics.repeats.leaks()
    if leaks is None:
        return Finding("leakage", CLEAR, details={"reason": "the file does not name a test split and another split"})
    n, hits = leaks["n"], leaks["videos"]
    of_captions: Verdict = "warn" if leaks["captions"] else CLEAR
    verdict = max(_verdict_of_rare_hits(hits, n), of_captions, key=VERDICTS.index)
    details = {"unit": "items of test splits", "count": hits, **leaks}
    return Finding("leakage", verdict, _share(hits, n), wilson(hits, n), 0.0, n, "", details)


def of_balance(statistics: FileStatistics) -> Finding:
    """Return the share of the smallest subtest; warn if a subtest is too small for a useful interval."""
    sizes = {name: counts.items for name, counts in statistics.counts.items()}
    smallest = min(sizes, key=lambda name: sizes[name])
    verdict: Verdict = "warn" if sizes[smallest] < SMALL_SUBTEST else CLEAR
    n = statistics.overall.items
    small = [name for name, size in sizes.items() if size < SMALL_SUBTEST]
    details = {
        "unit": "items",
        "count": sizes[smallest],
        "subtests": len(sizes),
        "smallest": smallest,
        "items": sizes[smallest],
        "small": small,
    }
    return Finding("balance", verdict, sizes[smallest] / n, None, 1 / len(sizes), n, "", details)


def of_languages(statistics: FileStatistics) -> Finding:
    """Return the share of the most frequent script of the right texts."""
    name, hits = statistics.scripts.most_common(1)[0]
    n = statistics.overall.items
    verdict: Verdict = CLEAR if hits >= (1 - FEW) * n else "warn"
    details: dict[str, Any] = {
        "unit": "items",
        "count": hits,
        "script": name,
        "scripts": dict(statistics.scripts.most_common()),
    }
    if statistics.languages:
        details["languages"] = dict(statistics.languages.most_common())
    return Finding("languages", verdict, hits / n, wilson(hits, n), None, n, "", details)


def of_fields(statistics: FileStatistics, problems: Problems) -> Finding:
    """Return the share of records that could be read, and which fields are missing.

    The share is of the files that could be read; if one could not, the check fails.
    """
    count = statistics.overall.items + statistics.open_sample.n
    n = count + problems.n
    missing = {name: statistics.missing[name] for name in ("id", "video", "split") if statistics.missing[name]}
    is_short = problems.files or problems.n > FEW * n
    verdict: Verdict = "fail" if is_short else ("warn" if problems.n or "video" in missing else CLEAR)
    details = {"unit": "records", "count": count, "bad": problems.n, "problems": problems.lines, "missing": missing}
    details |= {"counts": [0] * len(problems.files) + problems.counts, "files_left_out": len(problems.files)}
    return Finding("fields", verdict, count / n, None, None, n, "", details)


def of_licences(statistics: FileStatistics) -> Finding:
    """Return the share of records with a licence."""
    n = statistics.overall.items
    n_licensed = n - statistics.missing["licence"]
    details = {"unit": "items", "count": n_licensed, "licences": dict(statistics.licences.most_common(TOP_WORDS))}
    return Finding("licences", CLEAR if n_licensed == n else "warn", n_licensed / n, None, None, n, "", details)


def _verdict_of_rare_hits(hits: int, n: int) -> Verdict:
    if not hits:
        return CLEAR
    return "fail" if hits > FEW * n else "warn"


def _share(hits: int, n: int) -> float | None:
    return hits / n if n else None


def sizes_of(counts: Counter[int]) -> dict[str, int]:
    """Return the numbers of options with their items, as JSON."""
    return {str(size): counts[size] for size in sorted(counts)}
