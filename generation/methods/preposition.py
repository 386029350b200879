"""Preposition replacement (ViLMA 3.6 and C.6, spatial relations): "pouring water onto a chair" -> "… out of a chair".

`paper`: any other preposition of the corpus (of the built-in list where the run's captions have too few).
`corrected`: see the table's deviations. With `pairs=` only the given opposites are exchanged, in both modes.
No language model ranks the candidates: the reason stands in each candidate's facts under "ranking".
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from heapq import nsmallest
from typing import Any

from generation.errors import GenerationError
from generation.methods._drawing import generator_for
from generation.methods._lexicon import parse_pairs
from generation.methods._preposition_grammar import Relation, relations, replacements
from generation.methods._surface import phrase_pattern, replace_phrase
from generation.records import CaptionInput, FoilDraft, Skip, draft_from_edits

VERSION = "1"
UNRANKED_LIST = "unranked: no language model is chosen and the captions are too few for a corpus; built-in list"
UNRANKED_CORPUS = "unranked: no language model is chosen; drawn as often as the run's captions use each preposition"
OPPOSITE = "the exact opposite; nothing to rank"

Counts = Mapping[str, int] | None
Option = tuple[Relation, str]


def prepare(captions: Iterable[CaptionInput], *, params: dict[str, Any], mode: str, seed: int) -> Counts:
    """How often the captions use each preposition; None where fewer than params["min_corpus"] of them have one."""
    del seed
    if params["pairs"]:
        return None
    counts: Counter[str] = Counter()
    with_one = 0
    for caption in captions:
        found = [relation.phrase for relation in relations(caption.text, mode) if not relation.opposite]
        counts.update(found)
        with_one += bool(found)
    return dict(counts) if with_one >= max(1, params["min_corpus"]) else None


def make(
    captions: Iterable[CaptionInput], *, params: dict[str, Any], mode: str, seed: int, state: Counts = None
) -> Iterator[FoilDraft | Skip]:
    """Up to params["top"] foils a caption; `state` is what `prepare` gave for the whole run."""
    if params["top"] < 1:
        raise GenerationError(f"parameter 'top' is {params['top']}; give a whole number from 1")
    pairs = parse_pairs(params["pairs"], "pairs")
    pattern = phrase_pattern(list(pairs)) if pairs else None
    for caption in captions:
        options, ranking = [], OPPOSITE
        if pattern:
            for match in pattern.finditer(caption.text):
                relation = Relation(match.start(), match.end(), " ".join(match.group().lower().split()))
                options += [(relation, target) for target in pairs[relation.phrase]]
        else:
            options = _drawn(caption, mode, seed, state, params["top"])
            ranking = UNRANKED_CORPUS if state else UNRANKED_LIST
        if not options:
            yield Skip(caption.id, _why_none(caption, mode, listed=bool(pairs)))
        yield from _drafts(caption, options[: params["top"]], mode, ranking)


def _drawn(caption: CaptionInput, mode: str, seed: int, counts: Counts, top: int) -> list[Option]:
    """Options in drawn order: the whole-phrase opposites first, the rest weighted by the corpus."""
    rng = generator_for(seed, "preposition", caption.id)
    vocabulary = frozenset(counts) if counts else None
    found = list(relations(caption.text, mode))
    opposites = [(relation, relation.opposite) for relation in found if relation.opposite]
    # Exponential clocks: the earliest are a weighted draw without putting back.
    clocks = (
        (rng.expovariate(1.0) / (counts[target] if counts else 1), relation, target)
        for relation in found
        if not relation.opposite
        for target in replacements(relation.phrase, mode, vocabulary)
    )
    drawn = nsmallest(top, clocks, key=lambda clock: clock[0])
    return [*opposites, *((relation, target) for _, relation, target in drawn)][:top]


def _why_none(caption: CaptionInput, mode: str, *, listed: bool) -> str:
    if listed:
        return "no phrase of the parameter pairs stands in it"
    if any(True for _ in relations(caption.text, mode)):
        return "every preposition that could stand there might stay true"
    return "it has no preposition of space that can be replaced"


def _drafts(caption: CaptionInput, options: list[Option], mode: str, ranking: str) -> Iterator[FoilDraft]:
    for rank, (relation, target) in enumerate(options):
        edits = replace_phrase(caption.text, relation.start, relation.end, target)
        facts = {"from": relation.phrase, "to": target}
        facts["ranking"] = OPPOSITE if relation.opposite else ranking
        yield draft_from_edits(caption, edits, method="preposition", mode=mode, rank=rank, facts=facts)
