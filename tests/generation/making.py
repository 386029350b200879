"""How the tests of methods ask for foils: through the pipeline, as runs and the command do."""

from typing import Any

from foilworks.core.hub.adapters.fake import FakeChat
from foilworks.core.text.registry import load, parse_params
from generation import pair_measures, pipeline
from generation.instruction_models.cached_answers import Asking
from generation.instruction_models.prompts import built_in
from generation.methods.registry import METHODS
from generation.records import CaptionInput, Case, FoilDraft, Verdict
from tests.generation.memory_answers import MemoryAnswers


def step(slug: str, **params: Any) -> pipeline.Step:
    entry = METHODS[slug]
    module = load(entry)
    served = {"asking": Asking(FakeChat(), MemoryAnswers()), "prompt": built_in("counterfactual@1")}
    given = served if getattr(module, "USES_LLM", False) else {}
    return pipeline.Step(slug, module, parse_params(entry, params), extra_arguments=given)


def outcomes(
    slug: str,
    captions: list[CaptionInput],
    *,
    mode: str = "corrected",
    seed: int = 0,
    batch_size: int = 256,
    **params: Any,
) -> list[pipeline.Outcome]:
    method = step(slug, **params)
    state = pipeline.prepare(method, captions, mode=mode, seed=seed)
    return list(pipeline.run(method, captions, mode=mode, seed=seed, state=state, batch_size=batch_size))


def made_twice(slug: str, caption: CaptionInput, **options: Any) -> list[FoilDraft]:
    """All foils of one caption by itself, held to what every method promises."""
    (outcome,), (again,) = (outcomes(slug, [caption], **options) for _ in range(2))
    draw = "draw with generator_for(seed, slug, caption.id)"
    assert again == outcome, f"{slug}: the same seed made something else; {draw}"
    found = [judged.draft for judged in outcome.foils]
    for draft in found:
        assert draft.foil != caption.text, f"{slug}: the foil is the caption; yield Skip instead"
    return found


def drafts(slug: str, text: str, **options: Any) -> list[FoilDraft]:
    """All foils of one caption by itself; fails where the method breaks a promise (`made_twice`)."""
    return made_twice(slug, CaptionInput("only", text), **options)


def skipped(slug: str, text: str, facts: dict[str, Any] | None = None, **options: Any) -> str:
    """Why nothing is made of the caption; fails where something is."""
    (outcome,) = outcomes(slug, [CaptionInput("only", text, facts=facts or {})], **options)
    assert not outcome.foils
    return "; ".join(outcome.skipped)


def over_seeds(
    slug: str, text: str, *, facts: dict[str, Any] | None = None, seeds: int = 40, **options: Any
) -> set[str]:
    """Every foil that some seed makes of one caption by itself; fails where the method breaks a promise."""
    caption = CaptionInput("only", text, facts=facts or {})
    return {draft.foil for seed in range(seeds) for draft in made_twice(slug, caption, seed=seed, **options)}


def judge(module: Any, case: Case, params: dict[str, Any], **state: Any) -> Verdict:
    """What a filter of either kind says of one case."""
    if hasattr(module, "measure_many"):
        return pair_measures.judged(module, [case], params=params)[0]
    return module.judge(case.caption, case.foil, others=case.other_foils, params=params, **state)
