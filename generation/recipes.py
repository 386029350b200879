"""Recipes: one name for the method, parameters and filters of each published subtest.

A recipe is versioned: its content changes only with its version. Runs store the method and parameters, not
the recipe's name alone.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from foilworks.core.text.quoting import quoted
from generation.default_filters import DRAWN_METHODS
from generation.errors import GenerationError
from generation.filters.registry import DRAW
from generation.instruction_models.kind_prompts import KIND_PROMPTS
from generation.instruction_models.prompt import Prompt

# What no published recipe has: mode paper runs without these.
CHECKS: Mapping[str, Mapping[str, Any]] = {"asserted": {}, "contradiction": {}}
PLAIN: Mapping[str, Mapping[str, Any]] = {"identical": {}, "duplicate": {}, **CHECKS}
TEMPLATES: Mapping[str, Mapping[str, Any]] = {**PLAIN, "template_linter": {}}
SWAPS: Mapping[str, Mapping[str, Any]] = {**PLAIN, "template_linter": {"punctuation": "free"}}


@dataclass(frozen=True)
class Recipe:
    """A recipe. `captioner`: the maker of the captions that the method expects, with parameters; "" for any captions.

    `paper`: other filters in mode paper, and other parameters of them, filter -> {name: value}. `is_drawn`: in mode
    corrected, the foils of methods that replace words are drawn; not if they train a model, or have no opposites.
    """

    label: str
    version: str
    method: str
    params: Mapping[str, Any] = field(default_factory=dict)
    filters: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    captioner: str = ""
    captioner_params: Mapping[str, Any] = field(default_factory=dict)
    source: str = ""
    paper: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    is_drawn: bool = True

    def filters_in(self, mode: str) -> dict[str, dict[str, Any]]:
        """Return the filters with their parameters, in the order they run."""
        if mode == "paper":
            slugs = [*self.filters, *(slug for slug in self.paper if slug not in self.filters)]
            filters = {slug: {**self.filters.get(slug, {}), **self.paper.get(slug, {})} for slug in slugs}
            return {slug: params for slug, params in filters.items() if slug not in CHECKS}
        drawn: dict[str, dict[str, Any]] = {DRAW: {}} if self.is_drawn and self.method in DRAWN_METHODS else {}
        return {slug: dict(params) for slug, params in self.filters.items()} | drawn


ALBERT = "ynie/albert-xxlarge-v2-snli_mnli_fever_anli_R1_R2_R3-nli"
ROBERTA = "ynie/roberta-large-snli_mnli_fever_anli_R1_R2_R3-nli"
DETR = "facebook/detr-resnet-101@no_timm"
# If filters choose, they judge every word of the model, as in the papers: `foils` equals `top`.
# Not entailed, and GRUEN's grammaticality at .8 or more (ViLMA, Secs. 3.3 and C.1).
SOUND: Mapping[str, Mapping[str, Any]] = {
    **PLAIN,
    "nli": {"model": ALBERT},
    "grammaticality": {"min": 0.8},
}
# A verb that is frequent, plausible and different in meaning (contrast sets, Sec. A.3). `meaning` needs vectors=PATH.
VERB_SET: Mapping[str, Mapping[str, Any]] = {
    **PLAIN,
    "has_verb": {},
    "frequency": {"more_than": 30},
    "perplexity": {"model": "openai-community/gpt2-xl"},
    "meaning": {"word_max": 0.4, "sentence_max": 0.8},
}
TEACHER: Mapping[str, Any] = {"model": "FacebookAI/xlm-roberta-base", "top": 10}


def _state(subtest: str, label: str) -> Recipe:
    return Recipe(
        f"ViLMA change of state: {label}",
        "2",
        "state_change",
        {"subtest": subtest},
        TEMPLATES,
        "cos_caption",
        {"template": subtest},
        "ViLMA, Secs. 3.4 and C.4",
    )


def _by_model(prompt: Prompt) -> Recipe:
    """Return the recipe of a kind of foils that only models and people can make."""
    params = {"template": prompt.id, "foils": 1, "self_check": "yes"}
    return Recipe(f"{prompt.label}, by an instruction model", "1", "chat", params, PLAIN)


RECIPES: dict[str, Recipe] = {
    **{f"model-{prompt.kind}": _by_model(prompt) for prompt in KIND_PROMPTS},
    "vilma-counting-easy": Recipe(
        "ViLMA counting, easy",
        "2",
        "number",
        {"split": "easy", "max": 10, "anchor": "exactly"},
        TEMPLATES,
        "count_template",
        {"max": 10},
        "ViLMA, Secs. 3.2 and C.2",
        is_drawn=False,
    ),
    "vilma-counting-difficult": Recipe(
        "ViLMA counting, difficult",
        "2",
        "number",
        {"split": "difficult", "max": 10, "anchor": "exactly"},
        TEMPLATES,
        "count_template",
        {"max": 10},
        "ViLMA, Secs. 3.2 and C.2",
        is_drawn=False,
    ),
    "vilma-counting-proficiency": Recipe(
        "ViLMA counting: proficiency, in four stages",
        "2",
        "proficiency_action",
        {"min": 0.8},
        PLAIN,
        "action_caption",
        {},
        "ViLMA, Sec. C.2",
    ),
    "vilma-spatial": Recipe(
        "ViLMA spatial relations",
        "4",
        "preposition",
        {"top": 10, "model": "google-t5/t5-base"},
        {
            **PLAIN,
            "nli": {"model": ROBERTA},
            "grammaticality": {"min": 0.6},
        },
        source="ViLMA, Secs. 3.6 and C.6",
        paper={"frequency_clipping": {"relations": "paper"}},
    ),
    "vilma-spatial-unranked": Recipe(
        "ViLMA spatial relations, without a model",
        "3",
        "preposition",
        {"top": 10},
        TEMPLATES,
        source="ViLMA, Secs. 3.6 and C.6",
        paper={"frequency_clipping": {"relations": "paper"}},
    ),
    "vilma-action-replacement": Recipe(
        "ViLMA situation awareness: action replacement",
        "4",
        "mask_fill",
        {"model": "FacebookAI/roberta-base", "target": "verb", "top": 32, "foils": 32},
        SOUND,
        source="ViLMA, Secs. 3.3 and C.3",
    ),
    "vilma-proficiency-object": Recipe(
        "ViLMA: proficiency by object or subject",
        "2",
        "proficiency_object",
        {"model": "FacebookAI/roberta-large", "spans": "google-t5/t5-large", "top": 3, "min": 0.8},
        PLAIN,
        source="ViLMA, Sec. C.1",
    ),
    "vilma-rare-verb": Recipe(
        "ViLMA rare actions: action replacement",
        "4",
        "span_infill",
        {
            "model": "google-t5/t5-large",
            "beams": 64,
            "top": 64,
            "foils": 64,
            "prompt": "a person can {span}",
            "stop": "generic,touching,pronouns,conjunctions",
        },
        SOUND,
        "verb_noun_caption",
        {},
        "ViLMA, Secs. 3.5 and C.5",
    ),
    "vilma-rare-object": Recipe(
        "ViLMA rare actions: object replacement",
        "3",
        "object_swap",
        {
            "model": "google-bert/bert-large-uncased, FacebookAI/roberta-large, albert/albert-large-v2",
            "foils": 5,
            "detector": DETR,
            "frames": 8,
            "min_score": 0.8,
        },
        PLAIN,
        "verb_noun_caption",
        {},
        "ViLMA, Secs. 3.5 and C.5",
    ),
    "vilma-actor-swap": Recipe(
        "ViLMA situation awareness: actor swapping", "2", "actor_swap", {}, SWAPS, source="ViLMA, Secs. 3.3 and C.3"
    ),
    "vilma-state-action": _state("action", "action"),
    "vilma-state-pre": _state("pre_state", "pre-state"),
    "vilma-state-post": _state("post_state", "post-state"),
    "vilma-state-reverse": _state("reverse", "reverse"),
    "vilma-rare-existence": Recipe(
        "ViLMA rare actions: proficiency",
        "3",
        "existence",
        {"things": "any", "detector": DETR, "frames": 8, "min_score": 0.8},
        TEMPLATES,
        "existence_caption",
        {},
        "ViLMA, Sec. C.5",
    ),
    "contrast-gender": Recipe(
        "Contrast sets: Gender MC", "2", "gender_swap", {}, SWAPS, source="contrast sets, Sec. A.1"
    ),
    "contrast-identity": Recipe(
        "Contrast sets: ID MC", "2", "identity_swap", {}, SWAPS, source="contrast sets, Sec. A.2"
    ),
    "contrast-random": Recipe(
        "Contrast sets: Random MC",
        "1",
        "random_caption",
        {"foils": 4},
        {"identical": {}, "duplicate": {}},
        source="contrast sets, Secs. D.1 and D.2",
    ),
    "contrast-verb-lm": Recipe(
        "Contrast sets: VerbLM MC (tune the model on the train captions first)",
        "4",
        "span_infill",
        {"model": "google-t5/t5-base", "beams": 50, "top": 50, "foils": 50, "pattern": "both"},
        VERB_SET,
        source="contrast sets, Secs. 3.2 and A.3",
        paper={"perplexity": {"formula": "paper"}},
    ),
    "contrast-verb-person": Recipe(
        "Contrast sets: VerbH", "1", "person", {"foils": 0}, source="contrast sets, Sec. 3.3"
    ),
    "feint6k-person": Recipe(
        "Feint6K: written by people",
        "1",
        "person",
        {"foils": 5},
        {"identical": {}, "duplicate": {}, "minimal_edit": {}},
        source="Feint6K, Sec. 3.2",
    ),
    "feint6k-teacher": Recipe(
        "Feint6K teacher captions: 10 actions by mask filling",
        "3",
        "mask_fill",
        {**TEACHER, "foils": 10},
        {**PLAIN, "part_of_speech": {}},
        source="Feint6K, Secs. 4.2 and 5.1",
        is_drawn=False,
    ),
    "feint6k-teacher-5": Recipe(
        "Feint6K teacher captions: 5 actions",
        "3",
        "mask_fill",
        {**TEACHER, "foils": 5},
        {**PLAIN, "part_of_speech": {}},
        source="Feint6K, Sec. 5.3 and Table 2",
        is_drawn=False,
    ),
    "feint6k-teacher-5-5": Recipe(
        "Feint6K teacher captions: 5 actions and 5 objects",
        "3",
        "mask_fill",
        {**TEACHER, "target": "verb+object", "foils": 5},
        {**PLAIN, "part_of_speech": {}},
        source="Feint6K, Sec. 5.3 and Table 2",
        is_drawn=False,
    ),
    "feint6k-teacher-objects": Recipe(
        "Feint6K teacher captions: 5 objects, in addition to 5 actions",
        "2",
        "mask_fill",
        {**TEACHER, "target": "noun", "which": "every", "foils": 5},
        {**PLAIN, "part_of_speech": {}},
        source="Feint6K, Sec. 5.3 and Table 2",
        is_drawn=False,
    ),
    "feint6k-teacher-chat": Recipe(
        "Feint6K teacher captions: 10 actions by an instruction model",
        "2",
        "chat",
        {"foils": 10},
        {**PLAIN, "part_of_speech": {}},
        source="Feint6K, Sec. 5.3 and Table 2",
        is_drawn=False,
    ),
    "temporal-order": Recipe("Temporal benchmark: order of events", "1", "event_order", {}, SWAPS),
    "temporal-direction": Recipe("Temporal benchmark: direction and manner", "1", "direction", {}, TEMPLATES),
    "temporal-binding": Recipe("Temporal benchmark: attribute binding", "1", "attribute_swap", {}, SWAPS),
    "temporal-colours": Recipe("Temporal benchmark: binding of colours", "1", "colour_swap", {}, SWAPS),
    "temporal-negation": Recipe("Temporal benchmark: negation", "1", "negation", {}, SWAPS),
    "temporal-states": Recipe(
        "Temporal benchmark: changes of state", "1", "state_change", {"subtest": "action"}, TEMPLATES
    ),
    "temporal-proficiency": Recipe(
        "Temporal benchmark: proficiency by captions of other videos",
        "1",
        "random_caption",
        {"foils": 1},
        {"identical": {}, "duplicate": {}},
    ),
}


@dataclass(frozen=True)
class Benchmark:
    """Recipes that one press runs on the same captions: subtest -> recipe. `proficiency`: the recipe of the simpler
    subtest that all of them share: it asks whether a model tells the clip's caption from one of another video.
    """

    label: str
    version: str
    recipes: Mapping[str, str]
    proficiency: str


BENCHMARKS: dict[str, Benchmark] = {
    "temporal": Benchmark(
        "Temporal benchmark",
        "2",
        {
            "event order": "temporal-order",
            "direction and manner": "temporal-direction",
            "attribute binding": "temporal-binding",
            "colour binding": "temporal-colours",
            "change of state": "temporal-states",
            "negation": "temporal-negation",
        },
        "temporal-proficiency",
    ),
}


def find_recipe(slug: str) -> Recipe:
    """Find a recipe by name; GenerationError lists the known names."""
    if slug not in RECIPES:
        raise GenerationError(f"there is no recipe {quoted(slug)}; choose one of: {', '.join(sorted(RECIPES))}")
    return RECIPES[slug]
