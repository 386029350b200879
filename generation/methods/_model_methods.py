"""Rows of `registry.py`: the foil methods that ask a model."""

from foilworks.core.text.registry import Entry, Param
from generation.parameters import (
    ALLOWED_WORDS,
    ASKED,
    ASKING_LIMITS,
    DETECTED,
    DETECTOR_HELP,
    DEVICE,
    JUDGES,
    MASKED_LM,
    TAGGER,
    VOTES,
    WORD_KINDS,
)

WHICH = ("main", "first", "last", "every")

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
                (
                    "word to replace. object and subject are those of the first verb; verb+object: the same number of"
                    " foils for each"
                ),
                "choice",
                (*WORD_KINDS, "verb+object"),
            ),
            Param(
                "which",
                "main",
                (
                    "which of these words, if the caption has several. main: the main verb, not “wearing” or "
                    "“dressed”; of nouns, the first"
                ),
                "choice",
                WHICH,
            ),
            Param("top", 32, "words that the model suggests per blank (ViLMA: 32; Feint6K: 10)", "int"),
            Param("foils", 5, "max foils per caption", "int"),
            *ALLOWED_WORDS,
            Param(
                "prompts",
                "",
                (
                    "sentences with a blank that replace the caption, such as “a person can {verb} a {mask}; …”; "
                    "empty: the caption"
                ),
            ),
            *VOTES,
            TAGGER,
            DEVICE,
        ),
        deviations=(
            (
                "corrected: unsuitable words are removed before the best are chosen. Allowed are whole words that"
                " the run's captions use, in the form of the old word (“folds”: third person). The papers first "
                "choose the best of all words and filter afterwards, so many captions get no foil."
            ),
            "both modes: a new word is a single token of the model, and never the old word.",
            (
                "Feint6K finds the words to replace with an AMR parser (abstract meaning representation); here, "
                "their part of speech decides."
            ),
            (
                "ViLMA finds the verb with a dependency parser, and Feint6K with an AMR parser. Here rules find the "
                "main verb, and other words by part of speech."
            ),
        ),
    ),
    "span_infill": Entry(
        label="Span infilling",
        path="generation.methods.span_infill",
        kind="model",
        example=("A girl climbs up a rope.", "A girl slides down a rope."),
        main=("model", "pattern", "foils"),
        summary="A verb phrase becomes a blank that a text-to-text model fills with another verb phrase.",
        params=(
            Param(
                "model",
                "google-t5/t5-base",
                (
                    "text-to-text model with sentinel tokens, such as T5: Hugging Face ID or folder (ViLMA: "
                    "google-t5/t5-large), or a model tuned in this project"
                ),
            ),
            Param(
                "pattern",
                "both",
                (
                    "text to replace. verb: a verb; verb_preposition: a verb with the preposition after it; both: "
                    "each in its own foils"
                ),
                "choice",
                ("verb", "verb_preposition", "both"),
            ),
            Param("which", "main", "which verb to replace, if the caption has several", "choice", WHICH),
            Param("beams", 50, "beams in the beam search (contrast sets: 50; ViLMA: 64)", "int"),
            Param("top", 50, "texts that the model suggests per blank (contrast sets: 50)", "int"),
            Param("longest", 8, "max tokens in the new text", "int"),
            Param("foils", 5, "max foils per caption", "int"),
            Param(
                "prompt",
                "",
                (
                    "sentence that replaces everything before the blank, such as “a person can {span}” (ViLMA, rare "
                    "actions); empty: the caption"
                ),
            ),
            Param(
                "stop",
                "pronouns,conjunctions",
                (
                    "lists of words that the new text must not contain: generic and touching (verbs), pronouns, "
                    "conjunctions"
                ),
            ),
            TAGGER,
            DEVICE,
        ),
        deviations=(
            (
                "corrected: the new text is a verb in the form of the old one, alone or with words that link its "
                "object (“climbs up”). The papers accept any words and filter afterwards."
            ),
            (
                "both modes: the lists of excluded words are our own; ViLMA gives only examples of each list "
                "(use, have; hold, reach; I; and)."
            ),
            "both modes: spans come from a beam search; ViLMA's published code draws them (top-p .5).",
        ),
    ),
    "object_swap": Entry(
        label="Object swap",
        path="generation.methods.object_swap",
        kind="model",
        example=("A man is cutting a keyboard.", "A man is cutting a rope."),
        main=("model", "foils"),
        summary=(
            "“cutting a keyboard” becomes “cutting a rope”. Several models vote on the new object. Objects "
            "that a detector sees in the video are excluded."
        ),
        params=(
            Param(
                "model",
                "google-bert/bert-base-uncased, FacebookAI/roberta-base, albert/albert-base-v2",
                "masked language models that vote: Hugging Face IDs or folders, separated by commas",
            ),
            Param("top", 50, "words that each model suggests before the vote", "int"),
            Param("foils", 5, "max foils per caption (ViLMA: the 5 best)", "int"),
            Param(
                "prompts",
                "a person can {verb} a {mask}; a person can {verb} an {mask}; a person can {verb} some {mask}",
                "sentences with a blank that the models fill; empty: the caption",
            ),
            Param("min_probability", 0.01, "a model votes for a word whose probability is above this", "float"),
            Param("min_votes", 2, "min votes for a word", "int"),
            *ALLOWED_WORDS,
            Param("detector", "facebook/detr-resnet-101@no_timm", DETECTOR_HELP),
            *DETECTED,
            TAGGER,
            DEVICE,
        ),
        deviations=(
            (
                "corrected: unsuitable words are removed before the best are chosen, as in masked word filling. "
                "The paper chooses the best of all words."
            ),
            (
                "both modes: if a video has no file, no detector runs, and only the objects listed with the "
                "caption are known."
            ),
            (
                "both modes: synonyms (“cell phone”, “phone”) come from our own list. Synonyms of the caption's "
                "object are excluded as well."
            ),
        ),
    ),
    "proficiency_object": Entry(
        label="Proficiency: object",
        path="generation.methods.proficiency_object",
        kind="model",
        example=("A man lifts a barbell.", "A man lifts a table."),
        main=("model", "min"),
        summary=(
            "Makes foils for proficiency items, which test a simpler skill: the object is replaced or, if "
            "there is none, the subject."
        ),
        params=(
            Param("model", "FacebookAI/roberta-large", MASKED_LM.help),
            Param(
                "spans",
                "",
                (
                    "text-to-text model that also suggests phrases: Hugging Face ID or folder (ViLMA: "
                    "google-t5/t5-large); empty: none"
                ),
            ),
            Param(
                "target",
                "object",
                (
                    "what to replace. object: the main verb's object, or else its subject; landmark: the last noun of "
                    "the first clause, as in ViLMA's file of spatial relations"
                ),
                "choice",
                ("object", "landmark"),
            ),
            Param("top", 3, "suggestions taken from each model (ViLMA: 3)", "int"),
            *JUDGES,
            Param("min", 0.8, "min grammaticality score of the foil", "float"),
            *VOTES,
            TAGGER,
            DEVICE,
        ),
        deviations=(
            (
                "corrected: before the best words are chosen, other forms of the old word are removed, and words "
                "that change between singular and plural."
            ),
            (
                "corrected: a phrase has at most three words, and the last is a noun that is singular or plural "
                "like the old one. The paper accepts any phrase."
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
        summary="A chat model rewrites “installs a wheel to a bicycle” as “uninstalls a wheel from a bicycle”.",
        params=(
            *ASKED,
            Param("template", "counterfactual@1", "name and version of the prompt, which includes examples"),
            Param("foils", 5, "foils per caption, in one request (Feint6K: 10 or 5; at most 20)", "int"),
            Param(
                "temperature",
                0.0,
                "0: always the most likely answer; above 0: random answers that depend on the seed",
                "float",
            ),
            Param("max_tokens", 600, "max tokens in an answer", "int"),
            Param(
                "self_check",
                "no",
                "yes: the model is also asked whether the caption implies a foil, which is dropped unless it says no",
                "choice",
                ("no", "yes"),
            ),
            *ASKING_LIMITS,
        ),
        deviations=(
            (
                "both modes: the instruction and its examples are our own, because Feint6K publishes neither a "
                "prompt nor the name of its chat model."
            ),
            (
                "corrected: a foil starts with a capital letter and ends with a full stop only if its caption "
                "does. Otherwise these details would show which text a machine wrote."
            ),
        ),
    ),
    "proficiency_action": Entry(
        label="Proficiency: action",
        path="generation.methods.proficiency_action",
        kind="model",
        example=("A man performs push-ups.", "A man performs squats."),
        main=("spans", "model"),
        summary=(
            "“a man performs push-ups” becomes “a man performs squats”. Makes foils in four stages for the "
            "proficiency items of counting."
        ),
        params=(
            Param(
                "spans",
                "google-t5/t5-large",
                "stage 1: text-to-text model with sentinel tokens, such as T5: Hugging Face ID or folder",
            ),
            Param(
                "beams",
                16,
                "stage 1: beams in the beam search, and texts that the model suggests per verb phrase",
                "int",
            ),
            Param("model", "FacebookAI/roberta-large", "stage 2: " + MASKED_LM.help),
            Param("top", 3, "foils per stage that the models below judge (ViLMA: 3)", "int"),
            *JUDGES,
            Param("min", 0.8, "stages 1 and 2: min grammaticality score of a foil", "float"),
            Param("pool", 2000, "stage 3: max captions to draw from, per category", "int"),
            *VOTES,
            TAGGER,
            DEVICE,
        ),
        deviations=(
            (
                "corrected: new words have the form of the old ones. In stage 3, both subjects are singular or "
                "both are plural."
            ),
            (
                "both modes: the paper gives neither the number of beams nor the number of foils judged per "
                "stage. We judge three foils per stage, as in ViLMA, Sec. C.1."
            ),
            (
                "both modes: people check these foils in review, like all others. In the paper, people checked "
                "them between the stages."
            ),
        ),
    ),
}
