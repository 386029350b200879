"""Preposition replacement: "pouring water into a cup" -> "… out of a cup" (ViLMA, Secs. 3.6 and C.6).

`paper`: any other preposition of the corpus, or of the built-in list if the run's captions have too few.
`corrected`: see the deviations in the registry. With `pairs=` only the given opposites are exchanged, in both modes.
A text-to-text model (`model=`) ranks the candidates and the best are chosen. Without one, mode corrected makes only the
replacements that fit the verb and the landmark, exact opposites first; mode paper draws at random. Each candidate's
fact "ranking" says which it was and why.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from heapq import nsmallest
from itertools import islice
from typing import Any

from generation.errors import GenerationError
from generation.grammar.prepositions import Relation, fitting, is_opposite, relations, replacements
from generation.grammar.surface import phrase_pattern, replace_phrase
from generation.methods._lexicon import parse_pairs
from generation.methods._preposition_ranking import Option, likelihoods
from generation.methods._random import generator_for
from generation.records import CaptionInput, FoilDraft, Skip, draft_from_edits
from hub.adapters.registry import SPAN_FILLER, open_helper

VERSION = "4"
UNRANKED_LIST = "unranked: no language model is chosen, and too few captions for a corpus; built-in list"
UNRANKED_CORPUS = (
    "unranked: no language model is chosen; random, in proportion to the prepositions of the run's captions"
)
OPPOSITE = "the exact opposite; nothing to rank"
NONE_FOUND = "it has no preposition of space that can be replaced"
NONE_SURE = "no other preposition makes a natural sentence that is certainly false"

RANKED_LIST = "by a language model; from the built-in list, too few captions for a corpus"
RANKED_CORPUS = "by a language model; from the prepositions of the run's captions"
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
    if params["top"] < 1:
        raise GenerationError(f"parameter 'top' is {params['top']}; give a whole number from 1")
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
    with_one = 0
    for caption in captions:
        found = [relation.phrase for relation in relations(caption.text, mode) if not relation.opposite]
        counts.update(found)
        with_one += bool(found)
    return State(dict(counts) if with_one >= max(1, params["min_corpus"]) else None, scorer)


def make(
    captions: Iterable[CaptionInput], *, params: dict[str, Any], mode: str, seed: int, state: State | None = None
) -> Iterator[FoilDraft | Skip]:
    """Make up to params["top"] foils per caption; `state` is from `prepare` over the whole run."""
    check(params)
    known = state or State()
    pairs = parse_pairs(params["pairs"], "pairs")
    pattern = phrase_pattern(list(pairs)) if pairs else None
    if known.scorer is not None and pattern is None:
        yield from _ranked(captions, params["top"], mode, known)
        return
    for caption in captions:
        options, ranking = [], OPPOSITE
        if pattern:
            for match in pattern.finditer(caption.text):
                relation = Relation(match.start(), match.end(), " ".join(match.group().lower().split()))
                options += [(relation, target) for target in pairs[relation.phrase]]
        else:
            options = _drawn(caption, mode, seed, known.counts, params["top"])
            ranking = known.ranking
        if not options:
            yield Skip(caption.id, _why_none(caption, mode, listed=bool(pairs)))
        yield from _drafts(caption, options[: params["top"]], mode, ranking)


def _ranked(captions: Iterable[CaptionInput], top: int, mode: str, state: State) -> Iterator[FoilDraft | Skip]:
    """Yield the most likely candidates of each caption, after scoring all of them."""
    stream = iter(captions)
    while batch := list(islice(stream, RANKED_TOGETHER)):
        found = [(caption, option) for caption in batch for option in _options(caption, mode, state.counts)]
        values = iter(likelihoods(state.scorer, found, mode))
        scored: dict[str, list[tuple[float, Option]]] = {}
        for caption, option in found:
            scored.setdefault(caption.id, []).append((next(values), option))
        for caption in batch:
            # Ties keep the order of the options: position in the caption, then alphabet.
            best = sorted(scored.get(caption.id, ()), key=lambda pair: -pair[0])[:top]
            if not best:
                yield Skip(caption.id, _why_none(caption, mode, listed=False))
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
    found: list[Option] = []
    for relation in relations(caption.text, mode):
        if relation.opposite:
            found.append((relation, relation.opposite))
            continue
        targets = set(replacements(relation, mode, vocabulary))
        if mode != "paper":
            targets |= {one for one in fitting(caption.text, relation) if is_opposite(relation.phrase, one)}
        found += [(relation, target) for target in sorted(targets)]
    return found


def _drawn(caption: CaptionInput, mode: str, seed: int, counts: Mapping[str, int] | None, top: int) -> list[Option]:
    """Return the options: the corpus's prepositions before others, opposites first, the rest in weighted order."""
    rng = generator_for(seed, "preposition", caption.id)
    known = counts or {}
    # Exponential clocks: the earliest are a weighted draw without replacement.
    clocks = (
        (
            (bool(known) and target not in known, not opposite),
            0.0 if opposite else rng.expovariate(1.0) / known.get(target, 1),
            relation,
            target,
        )
        for relation in relations(caption.text, mode)
        for target, opposite in _targets(caption.text, relation, mode, counts)
    )
    return [(relation, target) for _, _, relation, target in nsmallest(top, clocks, key=lambda clock: clock[:2])]


def _targets(text: str, relation: Relation, mode: str, counts: Mapping[str, int] | None) -> list[tuple[str, bool]]:
    """Return the replacements of a relation without a model, and whether each is the exact opposite."""
    if relation.opposite:
        return [(relation.opposite, True)]
    if mode == "paper":
        return [(one, False) for one in replacements(relation, mode, frozenset(counts) if counts else None)]
    return [(one, is_opposite(relation.phrase, one)) for one in fitting(text, relation)]


def _why_none(caption: CaptionInput, mode: str, *, listed: bool) -> str:
    if listed:
        return "it has no phrase of the parameter pairs"
    return NONE_SURE if any(True for _ in relations(caption.text, mode)) else NONE_FOUND


def _drafts(
    caption: CaptionInput, options: list[Option], mode: str, ranking: str, *, of_model: bool = False
) -> Iterator[FoilDraft]:
    for rank, (relation, target) in enumerate(options):
        edits = replace_phrase(caption.text, relation.start, relation.end, target)
        facts = {"from": relation.phrase, "to": target}
        exact = relation.opposite or (mode != "paper" and is_opposite(relation.phrase, target))
        facts["ranking"] = OPPOSITE if exact and not of_model else ranking
        yield draft_from_edits(caption, edits, method="preposition", mode=mode, rank=rank, facts=facts)
