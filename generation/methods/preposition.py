"""Preposition replacement: "pouring water into a cup" -> "… out of a cup" (ViLMA, Secs. 3.6 and C.6).

`paper`: any other preposition of the corpus, or of the built-in list if the run's captions have too few.
`corrected`: see the deviations in the registry. With `pairs=` only the given opposites are exchanged, in both modes:
each phrase everywhere in the caption, and "from left to right" as a whole. No other foil has both phrases of a pair.
A text-to-text model (`model=`) ranks the candidates and the best are chosen. Without one, mode corrected makes only the
replacements that fit the verb and the landmark, exact opposites first; mode paper draws at random. Each candidate's
fact "ranking" says which it was and why.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from heapq import nsmallest
from itertools import islice
from typing import Any

from foilworks.core.hub.catalogue.registry import SPAN_FILLER
from foilworks.core.hub.opening import open_helper
from foilworks.core.text.diff import Edit
from generation.grammar.prepositions import Relation, fitting, is_opposite, relations, replacements
from generation.grammar.surface import is_mentioned, phrase_pattern, replace_phrase
from generation.methods._lexicon import parse_pairs
from generation.methods._preposition_ranking import Option, likelihoods
from generation.methods._random import generator_for
from generation.methods._rules import check_counts
from generation.records import CaptionInput, FoilDraft, Skip, draft_from_edits

VERSION = "8"
UNRANKED_LIST = "unranked: no language model is chosen, and too few captions for a corpus; built-in list"
UNRANKED_CORPUS = (
    "unranked: no language model is chosen; random, in proportion to the prepositions of the run's captions"
)
OPPOSITE = "the exact opposite; nothing to rank"
NONE_FOUND = "it has no preposition of space that can be replaced"
NONE_LISTED = "it has no phrase of the parameter pairs"
BOTH_LISTED = "it has both phrases of a pair, so replacing one makes no clear foil"
NONE_SURE = "no other preposition makes a natural sentence that is certainly false"

RANKED_LIST = "by a language model; from the built-in list, too few captions for a corpus"
RANKED_CORPUS = "by a language model; from the prepositions of the run's captions"
# The words before and between the ends of a path: "from the left to the right".
FROM, TO = (["from"], ["from", "the"]), (["to"], ["to", "the"])
WINDOW = 40
# Each candidate is checked against the whole caption: keeps the time linear for captions of 10^6 characters.
MAX_RELATIONS = 20
# Captions per batch of the model.
RANKED_TOGETHER = 64


@dataclass(frozen=True)
class State:
    """The counts of each preposition in the captions (None: too few), and the ranking model."""

    counts: Mapping[str, int] | None = None
    scorer: Any = None

    @property
    def ranking(self) -> str:
        if self.scorer is None:
            return UNRANKED_CORPUS if self.counts else UNRANKED_LIST
        return RANKED_CORPUS if self.counts else RANKED_LIST


def check(params: dict[str, Any]) -> None:
    """Raise GenerationError for an invalid parameter; loads nothing."""
    check_counts(params, "top")
    parse_pairs(params["pairs"], "pairs")


def prepare(captions: Iterable[CaptionInput], *, params: dict[str, Any], mode: str, seed: int) -> State:
    """Count the captions' prepositions, if at least params["min_corpus"] captions have one; load the
    model, if one is named.
    """
    del seed
    if params["pairs"]:
        return State()
    scorer = open_helper(params["model"], SPAN_FILLER, device=params["device"]) if params["model"] else None
    counts: Counter[str] = Counter()
    n_captions = 0
    for caption in captions:
        phrases = [relation.phrase for relation in relations(caption.text, mode) if not relation.opposite]
        counts.update(phrases)
        n_captions += bool(phrases)
    return State(dict(counts) if n_captions >= max(1, params["min_corpus"]) else None, scorer)


def make(
    captions: Iterable[CaptionInput], *, params: dict[str, Any], mode: str, seed: int, state: State | None = None
) -> Iterator[FoilDraft | Skip]:
    """Make up to params["top"] foils per caption; `state` is from `prepare` over the whole run."""
    check(params)
    run_state = state or State()
    pairs = parse_pairs(params["pairs"], "pairs")
    if pairs:
        yield from _exchanged(captions, pairs, params["top"], mode)
        return
    if run_state.scorer is not None:
        yield from _ranked(captions, params["top"], mode, run_state)
        return
    for caption in captions:
        options = _drawn(caption, mode, seed, run_state.counts, params["top"])
        if not options:
            yield Skip(caption.id, _why_none(caption, mode))
        yield from _drafts(caption, options, mode, run_state.ranking)


def _exchanged(
    captions: Iterable[CaptionInput], pairs: Mapping[str, tuple[str, ...]], top: int, mode: str
) -> Iterator[FoilDraft | Skip]:
    """Yield the foils of the given opposites, by the position of the phrase."""
    pattern = phrase_pattern(list(pairs))
    for caption in captions:
        spans_by_phrase: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for match in pattern.finditer(caption.text):
            spans_by_phrase[" ".join(match.group().lower().split())].append(match.span())
        change_by_edits: dict[tuple[Edit, ...], tuple[str, str]] = {}
        for phrase, target in [(source, new) for source in spans_by_phrase for new in pairs[source]]:
            edits = tuple(sorted(_exchange(caption.text, spans_by_phrase, phrase, target)))
            if edits:
                # The ends of a path give the same edits from both sides.
                change_by_edits.setdefault(edits, (phrase, target))
        if not change_by_edits:
            yield Skip(caption.id, BOTH_LISTED if spans_by_phrase else NONE_LISTED)
        for rank, (edits, (phrase, target)) in enumerate(islice(change_by_edits.items(), top)):
            facts = {"from": phrase, "to": target, "ranking": OPPOSITE}
            yield draft_from_edits(caption, edits, method="preposition", mode=mode, rank=rank, facts=facts)


def _exchange(
    text: str, spans_by_phrase: Mapping[str, Sequence[tuple[int, int]]], phrase: str, target: str
) -> list[Edit]:
    """Return the edits that replace the phrase everywhere. With both phrases: only the ends of "from left to right"."""
    target_spans = spans_by_phrase.get(target.lower(), ())
    replaced = [*spans_by_phrase[phrase], *target_spans]
    if is_mentioned(phrase, text, replaced) or is_mentioned(target, text, replaced):
        return []
    if target_spans and not _is_path(text, replaced):
        return []
    swaps = [(span, target) for span in spans_by_phrase[phrase]] + [(span, phrase) for span in target_spans]
    return [edit for (start, end), new in swaps for edit in replace_phrase(text, start, end, new)]


def _is_path(text: str, spans: Sequence[tuple[int, int]]) -> bool:
    """Return whether the two places are the ends of one "from … to …"."""
    if len(spans) != 2:
        return False
    (start, first_end), (second, _) = sorted(spans)
    before = text[max(0, start - WINDOW) : start].lower().split()
    return (before[-1:] in FROM or before[-2:] in FROM) and text[first_end:second].lower().split() in TO


def _ranked(captions: Iterable[CaptionInput], top: int, mode: str, state: State) -> Iterator[FoilDraft | Skip]:
    """Yield the most likely candidates of each caption, after scoring all of them."""
    stream = iter(captions)
    while batch := list(islice(stream, RANKED_TOGETHER)):
        candidates = [(caption, option) for caption in batch for option in _options(caption, mode, state.counts)]
        values = iter(likelihoods(state.scorer, candidates, mode))
        scored: dict[str, list[tuple[float, Option]]] = {}
        for caption, option in candidates:
            scored.setdefault(caption.id, []).append((next(values), option))
        for caption in batch:
            # Ties keep the order of the options: position in the caption, then alphabet.
            best = sorted(scored.get(caption.id, ()), key=lambda pair: -pair[0])[:top]
            if not best:
                yield Skip(caption.id, _why_none(caption, mode))
            yield from _scored_drafts(caption, best, mode, state)


def _scored_drafts(
    caption: CaptionInput, best: Sequence[tuple[float, Option]], mode: str, state: State
) -> Iterator[FoilDraft]:
    drafts = _drafts(caption, [option for _, option in best], mode, state.ranking, of_model=True)
    info = state.scorer.info
    for draft, (value, _) in zip(drafts, best, strict=True):
        facts = {**draft.facts, "log_likelihood": round(value, 5)}
        yield replace(draft, facts=facts, model_id=info.model_id, model_revision=info.revision)


def _options(caption: CaptionInput, mode: str, counts: Mapping[str, int] | None) -> list[Option]:
    """Return every replacement, by position, then alphabet."""
    vocabulary = frozenset(counts) if counts else None
    options: list[Option] = []
    for relation in relations(caption.text, mode)[:MAX_RELATIONS]:
        if relation.opposite:
            options.append((relation, relation.opposite))
            continue
        targets = set(replacements(relation, mode, vocabulary))
        if mode != "paper":
            targets |= {phrase for phrase in fitting(caption.text, relation) if is_opposite(relation.phrase, phrase)}
        options += [(relation, target) for target in sorted(targets)]
    return options


def _drawn(caption: CaptionInput, mode: str, seed: int, counts: Mapping[str, int] | None, top: int) -> list[Option]:
    """Return the options: the corpus's prepositions before others, opposites first, the rest in weighted order."""
    rng = generator_for(seed, "preposition", caption.id)
    run_counts = counts or {}
    # Exponential clocks: the earliest are a weighted draw without replacement.
    clocks = (
        (
            (bool(run_counts) and target not in run_counts, not opposite),
            0.0 if opposite else rng.expovariate(1.0) / run_counts.get(target, 1),
            relation,
            target,
        )
        for relation in relations(caption.text, mode)[:MAX_RELATIONS]
        for target, opposite in _targets(caption.text, relation, mode, counts)
    )
    return [(relation, target) for _, _, relation, target in nsmallest(top, clocks, key=lambda clock: clock[:2])]


def _targets(text: str, relation: Relation, mode: str, counts: Mapping[str, int] | None) -> list[tuple[str, bool]]:
    """Return the replacements of a relation without a model, and whether each is the exact opposite."""
    if relation.opposite:
        return [(relation.opposite, True)]
    if mode == "paper":
        return [(phrase, False) for phrase in replacements(relation, mode, frozenset(counts) if counts else None)]
    return [(phrase, is_opposite(relation.phrase, phrase)) for phrase in fitting(text, relation)]


def _why_none(caption: CaptionInput, mode: str) -> str:
    return NONE_SURE if relations(caption.text, mode) else NONE_FOUND


def _drafts(
    caption: CaptionInput, options: list[Option], mode: str, ranking: str, *, of_model: bool = False
) -> Iterator[FoilDraft]:
    for rank, (relation, target) in enumerate(options):
        edits = replace_phrase(caption.text, relation.start, relation.end, target)
        facts = {"from": relation.phrase, "to": target}
        exact = relation.opposite or (mode != "paper" and is_opposite(relation.phrase, target))
        facts["ranking"] = OPPOSITE if exact and not of_model else ranking
        yield draft_from_edits(caption, edits, method="preposition", mode=mode, rank=rank, facts=facts)
