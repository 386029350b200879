"""Generate and judge foils: a method, then every cheap filter, then the costly filters on the remaining foils.

Pure and streaming: memory holds one batch of captions, plus what the method's and filters' `prepare` return.

A method module has VERSION and `make(captions, *, params, mode, seed)`, which yields values of `MethodOutput`. With a
`prepare(captions, *, params, mode, seed)` it sees all captions of the run first, and `make` gets the result as
`state=`. With NEEDS_ALL_CAPTIONS it sees the captions that the run began with, also those excluded since. With
LEARNS_FROM_TRAIN, `prepare` sees the captions of the train split instead.

A filter that balances the foils of a whole run sets RUNS_LAST: it judges, in order, the foils that passed all others.
With DRAWS, its `select(pairs, *, fixed, per_group, seed)` judges the foils of all captions together: see `draw`. The
method then makes its foils with the parameters BEFORE_DRAW of its module, such as a larger number of foils.

A filter module has VERSION, COSTLY and `judge(caption, foil, *, others, params)`, or `judge_many(cases, *, params)`,
one verdict per case, to judge cases together. With a `prepare(captions, *, params)` it learns from captions first
and gets the result as `state=`. A filter with a model has `measure_many` instead, and measures each pair of
texts once (see measures.py). With `is_sampled(case, *, params, seed)` it lets some of the foils pass that it rejects.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, Self, get_args

from foilworks.core.text.diff import apply_edits
from foilworks.core.text.language.english import not_english
from foilworks.core.text.quoting import quoted
from foilworks.core.text.registry import Entry, load, lookup, version_of
from generation.balance.balanced_pairs import Pair
from generation.errors import GenerationError
from generation.filters.registry import DRAW, FILTERS, GUARDS
from generation.pair_measures import Measures, measures_of, pair_sha256, verdict_of
from generation.records import Blank, CaptionInput, Case, FoilDraft, Shortfall, Skip, Verdict

BATCH = 256
CHEAP, COSTLY, RUNS_LAST = range(3)

# Methods whose rules read English sentences.
ENGLISH_RULES = frozenset(
    {
        "number",
        "preposition",
        "actor_swap",
        "state_change",
        "gender_swap",
        "colour_swap",
        "existence",
        "event_order",
        "direction",
        "attribute_swap",
        "negation",
    }
)

# Methods that replace words: a changed clause must be asserted, and the rest of the caption must still hold.
REPLACES_WORDS = (ENGLISH_RULES - {"existence"}) | {
    "identity_swap",
    "lexicon_swap",
    "mask_fill",
    "span_infill",
    "object_swap",
}

MethodOutput = FoilDraft | Skip | Blank | Shortfall


@dataclass(frozen=True)
class Step:
    """A loaded method or filter module with its slug, its full parameters, and the state of a filter.

    `extra_arguments`: such as a model with stored answers, or one that watches clips. `version`: its version in
    the provenance.
    """

    slug: str
    module: Any
    params: Mapping[str, Any]
    state: Any = None
    extra_arguments: Mapping[str, Any] = field(default_factory=dict)
    version: str = ""

    @classmethod
    def of(cls, table: Mapping[str, Entry], slug: str, what: str, params: Mapping[str, Any]) -> Self:
        """Load the row of `slug`. RegistryError: the slug is unknown, or its plug-in cannot be used."""
        entry = lookup(table, slug, what)
        module = load(entry)
        return cls(slug, module, params, version=version_of(entry, module))


@dataclass(frozen=True)
class Judged:
    """A foil with each filter's verdict; `rejected_by` names the filters that rejected it, in order.

    `pairs`: filter -> the key of its measure (see measures.py).
    """

    draft: FoilDraft
    verdicts: Mapping[str, Verdict]
    rejected_by: tuple[str, ...]
    pairs: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Outcome:
    """The outcome of one caption: its foils, or why there are none, or how many foils people write.

    `missing`: why some of the requested foils are missing. `unanswered`: a model can be queried again.
    """

    caption: CaptionInput
    foils: tuple[Judged, ...] = ()
    skipped: tuple[str, ...] = ()
    blanks: int = 0
    missing: tuple[str, ...] = ()
    unanswered: bool = False


def prepare(
    method: Step, captions: Iterable[CaptionInput], *, mode: str, seed: int, train: Iterable[CaptionInput] = ()
) -> Any:
    """Prepare the method with all captions of the run, or with those of the train split if it learns from them; None
    if it needs no preparation.
    """
    if not hasattr(method.module, "prepare"):
        return None
    if getattr(method.module, "LEARNS_FROM_TRAIN", False):
        captions = train
    return method.module.prepare(captions, params=dict(method.params), mode=mode, seed=seed)


def run(
    method: Step,
    captions: Iterable[CaptionInput],
    *,
    filters: Sequence[Step] = (),
    mode: str,
    seed: int,
    state: Any = None,
    known_foils: Mapping[str, Sequence[str]] | None = None,
    measures: Measures | None = None,
    batch_size: int = BATCH,
) -> Iterator[Outcome]:
    """Yield one outcome per caption, in order. `state` is from `prepare` over the whole run, so that batches,
    order and resuming do not change results. `known_foils`: caption id -> foils that the caption already has elsewhere.
    `measures`: the store of the filters' measures.

    GenerationError: a method breaks its contract (edits that do not make the foil, an unknown caption).
    """
    filters = [step for step in filters if not draws(step)]
    stream = iter(captions)
    while batch := list(islice(stream, batch_size)):
        outputs_by_id = _outputs_by_id(method, batch, mode=mode, seed=seed, state=state)
        open_cases = {
            caption.id: list(_open_cases(caption, outputs_by_id[caption.id], (known_foils or {}).get(caption.id, ())))
            for caption in batch
        }
        _judge(
            filters, [open_case for caption_cases in open_cases.values() for open_case in caption_cases], measures, seed
        )
        for caption in batch:
            yield _outcome(caption, outputs_by_id[caption.id], open_cases[caption.id], filters)


def before_draw(method: Step) -> Step:
    """Return the method with parameters by which it makes all its foils, for a draw to choose from."""
    return replace(method, params={**method.params, **getattr(method.module, "BEFORE_DRAW", {})})


def draws(step: Step) -> bool:
    """Return whether the filter judges the foils of all captions together, after all others."""
    return getattr(step.module, "DRAWS", False)


def draw(outcomes: Sequence[Outcome], step: Step, *, per_group: int = 1, seed: int = 0) -> list[Outcome]:
    """Return all outcomes of a run with the draw's verdict on each foil that passed the other filters."""
    pairs = [
        Pair(
            f"{outcome.caption.id}#{index}",
            outcome.caption.id,
            outcome.caption.text,
            judged.draft.foil,
            outcome.caption.video,
        )
        for outcome in outcomes
        for index, judged in enumerate(outcome.foils)
        if not judged.rejected_by
    ]
    verdicts = step.module.select(pairs, params=step.params, per_group=per_group, seed=seed)
    return [
        replace(
            outcome,
            foils=tuple(
                _drawn(judged, step.slug, verdicts.get(f"{outcome.caption.id}#{index}"))
                for index, judged in enumerate(outcome.foils)
            ),
        )
        for outcome in outcomes
    ]


def left_out(outcomes: Iterable[Outcome]) -> dict[str, int]:
    """Return why the draw left out captions whose foils had passed all other filters -> their number."""
    reasons: Counter[str] = Counter()
    for outcome in outcomes:
        if outcome.foils and all(judged.rejected_by for judged in outcome.foils):
            details = [
                judged.verdicts[slug].detail
                for judged in outcome.foils
                for slug in judged.rejected_by[-1:]
                if judged.verdicts[slug].detail and slug == DRAW
            ]
            reasons.update(details[:1])
    return dict(reasons)


def _drawn(judged: Judged, slug: str, verdict: Verdict | None) -> Judged:
    if verdict is None:
        return judged
    rejected_by = judged.rejected_by if verdict.passed else (*judged.rejected_by, slug)
    return replace(judged, verdicts={**judged.verdicts, slug: verdict}, rejected_by=rejected_by)


def _outputs_by_id(
    method: Step, batch: Sequence[CaptionInput], *, mode: str, seed: int, state: Any
) -> dict[str, list[MethodOutput]]:
    by_id: dict[str, list[MethodOutput]] = {caption.id: [] for caption in batch}
    texts = {caption.id: caption.text for caption in batch}
    if len(by_id) != len(batch):
        raise GenerationError("two captions of one run have the same id; give each caption its own id")
    arguments = dict(method.extra_arguments)
    if hasattr(method.module, "prepare"):
        arguments["state"] = state
    try:
        outputs = method.module.make(
            _readable(method, batch, by_id), params=dict(method.params), mode=mode, seed=seed, **arguments
        )
    except TypeError as error:
        if error.__traceback__ is not None and error.__traceback__.tb_next is not None:
            raise
        # Nothing of `make` ran: its arguments are others.
        problem = f"method {method.slug}: its make cannot be called ({error})"
        raise GenerationError(f"{problem}; write make(captions, *, params, mode, seed)") from error
    for output in outputs:
        if not isinstance(output, MethodOutput):
            kinds = ", ".join(kind.__name__ for kind in get_args(MethodOutput))
            raise GenerationError(
                f"method {method.slug} returned a {type(output).__name__}; it must yield one of: {kinds}"
            )
        if output.caption_id not in by_id:
            raise GenerationError(f"method {method.slug} returned a result for an unknown caption: {output.caption_id}")
        if isinstance(output, FoilDraft) and output.method != method.slug:
            raise GenerationError(
                f"method {method.slug} returned a draft of {quoted(output.method)}; write method={quoted(method.slug)}"
            )
        if isinstance(output, FoilDraft) and apply_edits(texts[output.caption_id], output.edits) != output.foil:
            raise GenerationError(
                f"method {method.slug}: the edits of caption {output.caption_id} do not make its foil"
            )
        by_id[output.caption_id].append(output)
    if method.slug in REPLACES_WORDS and mode != "paper":
        return {caption.id: _sound(caption, by_id[caption.id]) for caption in batch}
    return by_id


def _sound(caption: CaptionInput, outputs: Sequence[MethodOutput]) -> list[MethodOutput]:
    """Return the outputs with the reason in the place of each draft that may be true, or contradicts itself."""
    sound_outputs: list[MethodOutput] = []
    reasons: list[str] = []
    for output in outputs:
        why = _why_refused(caption.text, output) if isinstance(output, FoilDraft) else ""
        if why:
            reasons.append(why)
        else:
            sound_outputs.append(output)
    if not reasons:
        return sound_outputs
    has_foils = any(isinstance(output, FoilDraft) for output in sound_outputs)
    return [*sound_outputs, Shortfall(caption.id, tuple(reasons)) if has_foils else Skip(caption.id, reasons[0])]


def _why_refused(text: str, draft: FoilDraft) -> str:
    return next((why for slug in GUARDS if (why := load(FILTERS[slug]).why(text, draft.edits))), "")


def _readable(method: Step, batch: Sequence[CaptionInput], by_id: dict[str, list[MethodOutput]]) -> list[CaptionInput]:
    """Return the captions that the method's rules can read; the others get a Skip in `by_id`."""
    if method.slug not in ENGLISH_RULES:
        return list(batch)
    readable = []
    for caption in batch:
        why = not_english(caption.text, caption.facts)
        if why:
            by_id[caption.id].append(Skip(caption.id, why))
        else:
            readable.append(caption)
    return readable


@dataclass
class _OpenCase:
    """A draft that the filters are judging."""

    case: Case
    draft: FoilDraft
    verdicts: dict[str, Verdict] = field(default_factory=dict)


def _open_cases(
    caption: CaptionInput, outputs: Sequence[MethodOutput], known_foils: Sequence[str]
) -> Iterator[_OpenCase]:
    other_foils = tuple(known_foils)
    for output in outputs:
        if isinstance(output, FoilDraft):
            yield _OpenCase(Case(caption, output.foil, other_foils), output)
            other_foils = (*other_foils, output.foil)


def _judge(filters: Sequence[Step], open_cases: Sequence[_OpenCase], measures: Measures | None, seed: int) -> None:
    """Judge the drafts: cheap filters all of them, costly ones the drafts that passed those, RUNS_LAST ones the rest
    of them. Verdicts are stored in place.
    """
    for turn in (CHEAP, COSTLY, RUNS_LAST):
        remaining = [
            open_case
            for open_case in open_cases
            if turn == CHEAP or all(verdict.passed for verdict in open_case.verdicts.values())
        ]
        for step in filters:
            if turn == _turn(step.module):
                cases = [open_case.case for open_case in remaining]
                for open_case, verdict in zip(remaining, _verdicts(step, cases, measures), strict=True):
                    open_case.verdicts[step.slug] = _with_sample(step, open_case.case, verdict, seed)


def _turn(module: Any) -> int:
    if getattr(module, "RUNS_LAST", False):
        return RUNS_LAST
    return COSTLY if module.COSTLY else CHEAP


def _with_sample(step: Step, case: Case, verdict: Verdict, seed: int) -> Verdict:
    """Let a drawn foil pass. The draw does not depend on the score, so that it holds for every threshold."""
    if not hasattr(step.module, "is_sampled") or verdict.score is None:
        return verdict
    if not step.module.is_sampled(case, params=dict(step.params), seed=seed):
        return verdict
    return replace(verdict, passed=True, sampled=True)


def _verdicts(step: Step, cases: Sequence[Case], measures: Measures | None) -> Sequence[Verdict]:
    if hasattr(step.module, "measure_many"):
        measures_of_cases = (
            measures_of(step.slug, step.module, step.params, cases, measures, step.extra_arguments) if cases else []
        )
        return [verdict_of(step.module, measure, step.params) for measure in measures_of_cases]
    arguments: dict[str, Any] = {"params": dict(step.params)}
    if hasattr(step.module, "prepare"):
        arguments["state"] = step.state
    if not hasattr(step.module, "judge_many"):
        return [
            step.module.judge(case.caption, case.foil, others=list(case.other_foils), **arguments) for case in cases
        ]
    return list(step.module.judge_many(cases, **arguments)) if cases else []


def _outcome(
    caption: CaptionInput,
    outputs: Sequence[MethodOutput],
    open_cases: Sequence[_OpenCase],
    filters: Sequence[Step],
) -> Outcome:
    blanks = sum(output.count for output in outputs if isinstance(output, Blank))
    skipped = tuple(output.why for output in outputs if isinstance(output, Skip))
    if not open_cases and not blanks and not skipped:
        skipped = ("the method made no foil",)
    judged = (
        Judged(
            open_case.draft,
            open_case.verdicts,
            tuple(
                step.slug
                for step in filters
                if step.slug in open_case.verdicts and not open_case.verdicts[step.slug].passed
            ),
            {
                step.slug: pair_sha256(open_case.case, step.module)
                for step in filters
                if step.slug in open_case.verdicts and hasattr(step.module, "measure_many")
            },
        )
        for open_case in open_cases
    )
    missing = tuple(why for output in outputs if isinstance(output, Shortfall) for why in output.why)
    unanswered = any(output.unanswered for output in outputs if isinstance(output, Skip))
    return Outcome(caption, tuple(judged), skipped, blanks, missing, unanswered)
