"""Versioned prompts for instruction models. The text of a version never changes. Pure.

`PROMPTS` are built in; a project's own are rows (`PromptTemplate`) with the same fields. Candidates store the id
("counterfactual@1") and the hash of the prompt.
"""

import re
from collections.abc import Mapping, Sequence

from foilworks.core.text.quoting import quoted
from generation.errors import GenerationError
from generation.instruction_models.kind_prompts import KIND_PROMPTS
from generation.instruction_models.prompt import ANSWER_FORM, QUESTION, Example, Prompt

SLUG = re.compile(r"[a-z0-9]+(?:[-_][a-z0-9]+)*")
ID = re.compile(r"(?P<slug>[a-z0-9]+(?:[-_][a-z0-9]+)*)@(?P<version>[1-9]\d*)")
MAX_EXAMPLES = 20


PROMPTS: Mapping[str, Prompt] = {
    prompt.id: prompt
    for prompt in (
        Prompt(
            "counterfactual",
            1,
            "Counterfactual actions",
            (
                "You are given a caption that is true of a video. Write counterfactual captions: each describes "
                "another action, so that it is false of this video, though it could be true of another one. Change "
                "the verb, and with it every preposition or particle that goes with the new verb (install … to, "
                "uninstall … from). Leave people, things, places, numbers and all other words as they are. Keep tense, "
                "capital letters and punctuation. Each caption has another verb; none is a synonym of the action, "
                "follows from it, or contains it as a part. " + ANSWER_FORM
            ),
            QUESTION,
            (
                (
                    "a man installs a wheel to a bicycle in a workshop",
                    (
                        "a man uninstalls a wheel from a bicycle in a workshop",
                        "a man leans a wheel against a bicycle in a workshop",
                        "a man rolls a wheel past a bicycle in a workshop",
                    ),
                ),
                (
                    "Two girls climb up a ladder beside the pool.",
                    (
                        "Two girls climb down a ladder beside the pool.",
                        "Two girls carry a ladder beside the pool.",
                        "Two girls hide behind a ladder beside the pool.",
                        "Two girls paint a ladder beside the pool.",
                    ),
                ),
                (
                    "a chef pours milk into a bowl and smiles",
                    (
                        "a chef drinks milk out of a bowl and smiles",
                        "a chef spills milk over a bowl and smiles",
                    ),
                ),
                (
                    "The dog is running after a ball on the beach",
                    (
                        "The dog is running away from a ball on the beach",
                        "The dog is lying next to a ball on the beach",
                        "The dog is barking at a ball on the beach",
                        "The dog is digging for a ball on the beach",
                        "The dog is jumping over a ball on the beach",
                    ),
                ),
            ),
            "(Feint6K, Sec. 4.2), method II: the instruction and the examples are our own, the paper prints none",
        ),
        Prompt(
            "counterfactual-object",
            1,
            "Counterfactual objects",
            (
                "You are given a caption that is true of a video. Write counterfactual captions: in each, one thing of "
                "the caption is replaced by another thing that could be there instead and cannot be mistaken for it, "
                "so that the caption is false of this video. Leave actions, people, places, numbers and all other "
                "words as they are; mend only an article (a, an). Keep tense, capital letters and punctuation. No "
                "new thing is a synonym, a kind or a part of the old one. " + ANSWER_FORM
            ),
            QUESTION,
            (
                (
                    "a woman cuts an onion with a knife",
                    (
                        "a woman cuts a carrot with a knife",
                        "a woman cuts a rope with a knife",
                        "a woman cuts an onion with a pair of scissors",
                    ),
                ),
                ("A boy is kicking a ball in a park.", ("A boy is kicking a can in a park.",)),
            ),
            "(Feint6K, Sec. 5.3), object-based captions: the instruction and the examples are our own",
        ),
        Prompt(
            "polish",
            1,
            "Polish (ViLMA)",
            "",
            (
                "I want you to act as an English spelling corrector and improver. I will speak to you in English and "
                "you will answer in the corrected and improved version of my text, in English. I want you to replace "
                "my simplified A0-level words and sentences with more beautiful and elegant, upper-level English words "
                "and sentences. Keep the meaning same, but make them more literary. I want you to only reply with the "
                "corrections, the improvements, and nothing else, do not write explanations. Your responses should be "
                "enumerated. Each sentence is separated by a dot (.). My sentences are: {caption}"
            ),
            (),
            "(ViLMA, Sec. C.3), word for word",
            "captions",
        ),
        *KIND_PROMPTS,
    )
}


def built_in(prompt_id: str) -> Prompt:
    """Find a built-in prompt by id; GenerationError lists the known ids."""
    if prompt_id not in PROMPTS:
        raise GenerationError(f"there is no prompt {quoted(prompt_id)}; choose one of: {', '.join(sorted(PROMPTS))}")
    return PROMPTS[prompt_id]


def checked(slug: str, version: int, system: str, question: str, examples: Sequence[Sequence[object]]) -> Prompt:
    """Create a project's own prompt; GenerationError: it is invalid."""
    if not SLUG.fullmatch(slug) or len(slug) > 40:
        raise GenerationError(
            f"prompt {quoted(slug)}: invalid name; use at most 40 lowercase letters, digits and hyphens"
        )
    if "{caption}" not in question:
        raise GenerationError(f"prompt {slug}: question: {{caption}} is missing; put it where the caption belongs")
    if len(examples) > MAX_EXAMPLES:
        raise GenerationError(f"prompt {slug}: examples: {len(examples)} are too many; give at most {MAX_EXAMPLES}")
    return Prompt(
        slug, version, f"{slug}@{version}", system, question, tuple(_example(slug, example) for example in examples)
    )


def _example(slug: str, example: Sequence[object]) -> Example:
    if not isinstance(example, Sequence) or len(example) != 2:
        raise GenerationError(f'prompt {slug}: examples: write each as ["caption", ["foil", "foil"]]')
    caption, foils = example
    texts = list(foils) if isinstance(foils, Sequence) and not isinstance(foils, str) else []
    if not isinstance(caption, str) or not caption.strip() or not texts or not all(isinstance(t, str) for t in texts):
        raise GenerationError(f'prompt {slug}: examples: write each as ["caption", ["foil", "foil"]]')
    return caption, tuple(str(text) for text in texts)
