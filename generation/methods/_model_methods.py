"""Rows of `registry.py`: the foil methods that ask a model."""

from generation.parameters import (
    ASKED,
    ASKING_LIMITS,
    DETECTED,
    DETECTOR_HELP,
    DEVICE,
    JUDGES,
    MASKED_LM,
    TAGGER,
    WORD_KINDS,
)
from text.registry import Entry, Param

MODEL_METHODS: dict[str, Entry] = {
    "mask_fill": Entry(
        label="Masked word filling",
        path="generation.methods.mask_fill",
        kind="model",
        example=("A man folds a shirt.", "A man tears a shirt."),
        main=("model", "target", "foils"),
        summary="A verb or noun becomes a blank that a masked language model fills with another word.",
        params=(
            MASKED_LM,
            Param(
                "target",
                "verb",
                "what is replaced; object, subject: those of the first verb; verb+object: the same "
                "number of foils for each",
                "choice",
                (*WORD_KINDS, "verb+object"),
            ),
            Param("which", "first", "which one, if the caption has several", "choice", ("first", "last", "every")),
            Param("top", 32, "words taken from the model per blank (ViLMA: 32; Feint6K: 10)", "int"),
            Param("foils", 5, "max foils per caption", "int"),
            Param(
                "vocabulary",
                "captions",
                "mode corrected: only words whose lemma the run's captions use, or all whole words of the model",
                "choice",
                ("captions", "model"),
            ),
            Param(
                "min_corpus", 50, "min lemmas in the captions; with fewer, all words of the model are allowed", "int"
            ),
            Param(
                "prompts", "", "other sentences to fill, such as “a person can {verb} a {mask}; …”; empty: the caption"
            ),
            Param("min_probability", 0.01, "several models: min probability of a word for a model's vote", "float"),
            Param("min_votes", 2, "several models: min votes for a word", "int"),
            TAGGER,
            DEVICE,
        ),
        deviations=(
            (
                "corrected: the vocabulary is restricted before the best words are taken. Allowed are "
                "whole words in the original form (“folds”: third person), with another lemma, used in "
                "the run's captions. The papers take the best of all words and filter afterwards, so "
                "many captions get no foil."
            ),
            "both modes: candidates are words of one token, and never the original word.",
            "Feint6K finds the words to replace with an AMR parser; here they are found by part of speech.",
        ),
    ),
    "span_infill": Entry(
        label="Span infilling",
        path="generation.methods.span_infill",
        kind="model",
        example=("A girl climbs up a rope.", "A girl slides down a rope."),
        main=("model", "pattern", "foils"),
        summary="A verb phrase becomes a blank that a text-to-text model fills with another one.",
        params=(
            Param(
                "model",
                "google-t5/t5-base",
                "a text-to-text model with sentinels: hub id or folder (ViLMA: google-t5/t5-large), or a "
                "model tuned here",
            ),
            Param(
                "pattern",
                "both",
                "what is replaced: a verb, a verb with the preposition after it, or each separately",
                "choice",
                ("verb", "verb_preposition", "both"),
            ),
            Param("which", "first", "which verb, if the caption has several", "choice", ("first", "last", "every")),
            Param("beams", 50, "beams of the search (contrast sets: 50; ViLMA: 64)", "int"),
            Param("top", 50, "spans taken from the model per blank (contrast sets: 50)", "int"),
            Param("longest", 8, "max tokens of a span", "int"),
            Param("foils", 5, "max foils per caption", "int"),
            Param("prompt", "", "ViLMA, rare actions: “a person can {span}” replaces all text before the blank"),
            Param(
                "stop",
                "pronouns,conjunctions",
                "lists of words that no span may contain: generic, touching (verbs), pronouns, conjunctions",
            ),
            TAGGER,
            DEVICE,
        ),
        deviations=(
            (
                "corrected: a span is a verb in the original form, alone or with words that link its "
                "object (“climbs up”). The papers take any words and filter afterwards."
            ),
            "both modes: the stop lists are our own; ViLMA gives examples of each (use, have; hold, reach; I; and).",
        ),
    ),
    "object_swap": Entry(
        label="Object swap",
        path="generation.methods.object_swap",
        kind="model",
        example=("A man is cutting a keyboard.", "A man is cutting a rope."),
        main=("model", "foils"),
        summary="“cutting a keyboard” becomes “cutting a rope”. Several models vote, and things that a "
        "detector sees are excluded.",
        params=(
            Param(
                "model",
                "google-bert/bert-base-uncased, FacebookAI/roberta-base, albert/albert-base-v2",
                "masked language models that vote: hub ids or folders, separated by commas",
            ),
            Param("top", 50, "words taken from each model before the vote", "int"),
            Param("foils", 5, "max foils per caption (ViLMA: the 5 best)", "int"),
            Param(
                "prompts",
                "a person can {verb} a {mask}; a person can {verb} an {mask}; a person can {verb} some {mask}",
                "sentences that the models fill; empty: the caption",
            ),
            Param("min_probability", 0.01, "min probability of a word for a model's vote", "float"),
            Param("min_votes", 2, "min votes for a word", "int"),
            Param(
                "vocabulary",
                "captions",
                "mode corrected: only words whose lemma the run's captions use, or all whole words of the model",
                "choice",
                ("captions", "model"),
            ),
            Param(
                "min_corpus", 50, "min lemmas in the captions; with fewer, all words of the model are allowed", "int"
            ),
            Param("detector", "facebook/detr-resnet-101@no_timm", DETECTOR_HELP),
            *DETECTED,
            TAGGER,
            DEVICE,
        ),
        deviations=(
            (
                "corrected: the vocabulary is restricted before the best words are taken, as in masked "
                "word filling. The paper takes the best of all words."
            ),
            "both modes: no detector runs on a video without a file. Only its caption's fact “objects” is known.",
            (
                "both modes: synonyms (“cell phone”, “phone”) come from a list of ours. Synonyms of the "
                "caption's own object are dropped as well."
            ),
        ),
    ),
    "proficiency_object": Entry(
        label="Proficiency: object",
        path="generation.methods.proficiency_object",
        kind="model",
        example=("A man lifts a barbell.", "A man lifts a table."),
        main=("model", "min"),
        summary="The simpler skill of an item: its object (or else its subject) is replaced.",
        params=(
            Param("model", "FacebookAI/roberta-large", MASKED_LM.help),
            Param(
                "spans", "", "a text-to-text model that also adds phrases: hub id or folder (ViLMA: google-t5/t5-large)"
            ),
            Param(
                "target",
                "object",
                "what is replaced. object: the first verb's object, or else its subject; landmark: the last noun of "
                "the first clause, as in ViLMA's file of spatial relations",
                "choice",
                ("object", "landmark"),
            ),
            Param("top", 3, "words, and phrases, taken from each model (ViLMA: 3)", "int"),
            *JUDGES,
            Param("min", 0.8, "min grammaticality of the foil", "float"),
            Param("min_probability", 0.01, "several models: min probability of a word for a model's vote", "float"),
            Param("min_votes", 2, "several models: min votes for a word", "int"),
            TAGGER,
            DEVICE,
        ),
        deviations=(
            "corrected: only words of the same number with another lemma are allowed, before the best are taken.",
            (
                "corrected: a phrase has at most three words, and the last is a noun of the same number. The "
                "paper takes any phrase."
            ),
            (
                "both modes: the paper names the object or subject. Its file of spatial relations masks mostly the "
                "last noun: use target=landmark there."
            ),
        ),
    ),
    "chat": Entry(
        label="Instruction model",
        path="generation.methods.chat",
        kind="endpoint",
        example=("Someone installs a wheel to a bicycle.", "Someone uninstalls a wheel from a bicycle."),
        main=("endpoint", "model", "template", "foils"),
        summary="“installs a wheel to a bicycle” becomes “uninstalls a wheel from a bicycle”, by a chat model.",
        params=(
            *ASKED,
            Param("template", "counterfactual@1", "the prompt with its examples, by name and version"),
            Param("foils", 5, "foils per caption, requested together (Feint6K: 10 or 5); at most 20", "int"),
            Param("temperature", 0.0, "0: the most likely answer; above 0: sampled with the seed", "float"),
            Param("max_tokens", 600, "max tokens of an answer", "int"),
            *ASKING_LIMITS,
        ),
        deviations=(
            "both modes: the instruction and the examples are our own; Feint6K prints none and names no chat model.",
            (
                "corrected: a foil copies the case of its caption's first letter and its final full "
                "stop, so that neither reveals which text a machine wrote."
            ),
        ),
    ),
    "proficiency_action": Entry(
        label="Proficiency: action",
        path="generation.methods.proficiency_action",
        kind="model",
        example=("A man performs push-ups.", "A man performs squats."),
        main=("spans", "model"),
        summary="“a man performs push-ups” becomes “a man performs squats”: counting's simpler skill, in four stages.",
        params=(
            Param("spans", "google-t5/t5-large", "stage 1: a text-to-text model with sentinels: hub id or folder"),
            Param("beams", 16, "beams of its search, and spans taken from it per verb phrase", "int"),
            Param("model", "FacebookAI/roberta-large", "stage 2: " + MASKED_LM.help),
            Param("top", 3, "foils judged per stage (ViLMA: 3)", "int"),
            *JUDGES,
            Param("min", 0.8, "min grammaticality of a foil of stages 1 and 2", "float"),
            Param("pool", 2000, "stage 3: captions to draw from, per category", "int"),
            Param("min_probability", 0.01, "several models: min probability of a word for a model's vote", "float"),
            Param("min_votes", 2, "several models: min votes for a word", "int"),
            TAGGER,
            DEVICE,
        ),
        deviations=(
            "corrected: spans and words keep the original form; in stage 3 both subjects have the same number.",
            (
                "both modes: the paper does not print the beams and the foils judged per stage. We use "
                "three, as in ViLMA, Sec. C.1."
            ),
            (
                "both modes: people check these foils in review, like all others. In the paper they did so "
                "between the stages."
            ),
        ),
    ),
}
