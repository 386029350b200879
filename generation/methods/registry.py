"""The foil methods. One method = one file beside this one and one row here; nothing is imported to show the menu."""

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
from text.plugins import Registry
from text.registry import Entry, Param

_METHODS: dict[str, Entry] = {
    "number": Entry(
        label="Number replacement",
        path="generation.methods.number",
        summary="“exactly three times” becomes “exactly nine times”; nouns and verbs agree.",
        params=(
            Param("foils", 1, "foils for each caption", "int"),
            Param("max", 10, "captions with a larger count are skipped (ViLMA: 10); at most 20", "int"),
            Param(
                "split",
                "any",
                "easy: captions with 1, 2, 3; difficult: those in the foil; any: both",
                "choice",
                ("any", "easy", "difficult"),
            ),
            Param(
                "anchor",
                "exactly",
                "exactly: only “exactly N” and “N times in total”; any: any number word that counts something",
                "choice",
                ("exactly", "any"),
            ),
            Param(
                "leftover",
                "skip",
                "a caption that no other can trade counts with: skip it, or draw a count freely",
                "choice",
                ("skip", "draw"),
            ),
        ),
        deviations=(
            (
                "corrected: counts are traded between the captions of a run, so that a pair {a, b} has a true as often "
                "as b and “the smaller number is true” wins nothing; the paper draws the wrong count freely."
            ),
            (
                "corrected: foils may also differ within 1..3 or within 4..max; the paper's easy and difficult "
                "subtests always cross. With split=easy or difficult, each half alone stays solvable: use both."
            ),
            (
                "both modes: a caption whose count contradicts its video's annotated count is skipped; nouns and verbs "
                "are inflected by rule where the paper wrote templates by hand."
            ),
        ),
    ),
    "preposition": Entry(
        label="Preposition replacement",
        path="generation.methods.preposition",
        summary="“pouring water onto a chair” becomes “pouring water out of a chair”.",
        params=(
            Param("top", 10, "candidates for each caption at most (ViLMA: the 10 best)", "int"),
            Param(
                "pairs",
                "",
                "exact opposites only, as “left to right:right to left,up:down”; both directions are taken; captions "
                "such as “moves up” want up:down here, since alone such a word is no preposition",
            ),
            Param(
                "min_corpus",
                20,
                "draw from the captions' own prepositions where at least so many captions have one, else from the "
                "built-in list",
                "int",
            ),
            Param(
                "model",
                "",
                "a text-to-text model that ranks the candidates (ViLMA: google-t5/t5-base): hub id or folder; empty: "
                "they stand in drawn order, weighted by how often the captions use each preposition",
            ),
            DEVICE,
        ),
        deviations=(
            (
                "corrected: the model says how likely the new preposition is in the blank, the rest of the sentence "
                "given, as it was trained to; the paper compares perplexities of whole sentences that the model reads "
                "and writes again."
            ),
            "corrected: “someone” is put before a sentence for scoring only where it begins with its verb.",
            (
                "corrected: “from left to right” and its kind change only as a whole into the opposite; the paper also "
                "writes “over left to right”."
            ),
            (
                "corrected: replacements that would stay true (on/onto, out of/from, behind/outside, in/on a chair …) "
                "are blocked, by lists of words; particles of verbs (pick up), fixed phrases (in total, in a red "
                "shirt) and “with” are left alone, and a place is replaced by a place, a path by a path."
            ),
        ),
    ),
    "actor_swap": Entry(
        label="Actor swap",
        path="generation.methods.actor_swap",
        summary="“A policeman holds a blond man” becomes “A blond man holds a policeman”.",
        params=(TAGGER,),
        deviations=(
            (
                "corrected: verbs that say the same both ways (hug, meet, kiss, “stare at each other”, “dances with”) "
                "are refused, and participants named by a possessive (“his brother”); the paper swaps them."
            ),
            (
                "both modes: whole noun phrases with their descriptions change places and the verb agrees, by rule; "
                "the paper's captions came with annotated participants. Participants of equal words are skipped."
            ),
        ),
    ),
    "state_change": Entry(
        label="Change of state",
        path="generation.methods.state_change",
        summary="“Someone folds the paper.” becomes “Someone unfolds the paper.”; states before and after too.",
        params=(
            Param(
                "subtest",
                "auto",
                "auto: by each caption's template; or only action, pre_state, post_state, reverse",
                "choice",
                ("auto", "action", "pre_state", "post_state", "reverse"),
            ),
            TAGGER,
        ),
        deviations=(
            (
                "corrected: what cannot be undone (chop, tear, cook) has no action or reverse foil; the paper takes "
                "an opposite verb (chops / connects), and so does mode paper."
            ),
            (
                "corrected: the preposition follows its verb (“attaches it to” / “detaches it from”); the paper "
                "leaves it (“detaches the pen drive to the cd player”)."
            ),
            "corrected: the verb of change is also replaced in captions of no template (“a man opens a door”).",
            "both modes: the lexicon is our own; the paper's was drawn from ConceptNet, WordNet and hand work.",
        ),
    ),
    "gender_swap": Entry(
        label="Gender swap",
        path="generation.methods.gender_swap",
        summary="“A woman is pushing her stroller” becomes “A man is pushing his stroller”.",
        params=(TAGGER,),
        deviations=(
            (
                "corrected: a caption is skipped where a second person of the same gender, the same noun twice, or a "
                "plural noun leaves it open whose “his” or “her” it is; the paper swaps every such pronoun."
            ),
            (
                "corrected: “her” becomes “his” or “him” by what follows it, and where both fit (“hands her flowers”) "
                "the caption is skipped; the paper does not say how, and mode paper writes “his” each time."
            ),
        ),
    ),
    "colour_swap": Entry(
        label="Colour swap",
        path="generation.methods.colour_swap",
        summary="“A red ball hits a blue box” becomes “A blue ball hits a red box”: the same words.",
        params=(Param("foils", 1, "foils for each caption at most", "int"), TAGGER),
        published=False,
        deviations=(
            (
                "Colours of one thing (“red and white shirt”), of two things of one name and of names (“orange juice”) "
                "are left alone: their foils could stay true."
            ),
        ),
    ),
    "identity_swap": Entry(
        label="Identity swap",
        path="generation.methods.identity_swap",
        summary="“Harry looks at Hermione” becomes “Ron looks at Hermione”: same movie, same gender.",
        params=(
            Param("foils", 1, "foils for each caption at most", "int"),
            Param(
                "characters",
                [],
                "the project's characters, where captions bring none in their facts: a list of "
                '{"name", "gender", "movie", "frequency", "aliases"}',
                "json",
            ),
            Param(
                "draw",
                "uniform",
                "uniform: each character alike (the paper); frequency: as often as the train captions name them",
                "choice",
                ("uniform", "frequency"),
            ),
        ),
        deviations=(
            (
                "corrected: all mentions of a character change together, and nobody becomes a character whom the "
                "caption names already (“Harry looks at Harry”); the paper decides mention by mention."
            ),
        ),
    ),
    "existence": Entry(
        label="Existence",
        path="generation.methods.existence",
        summary="“there is at least one fridge” becomes “there is at least one egg”, of another video.",
        params=(
            Param("foils", 1, "foils for each caption at most", "int"),
            Param("detector", "", f"{DETECTOR_HELP} (ViLMA: facebook/detr-resnet-101@no_timm)"),
            *DETECTED,
            DEVICE,
        ),
        deviations=(
            (
                "corrected: the thing takes the form of the caption's own frame, so that one word changes; the paper "
                "changes the frame as well (“is at least one shirt” / “are some peppers”)."
            ),
            (
                "both modes: a thing is also left out where any caption of the video names it, or the caption's facts "
                "list it under “objects”, by whatever name; where a video has no file, that is all that is known."
            ),
            "both modes: what is not counted is said as “there is some water”; the paper has no such frame.",
        ),
    ),
    "random_caption": Entry(
        label="Random captions",
        path="generation.methods.random_caption",
        summary="Captions of other videos as easy negatives (Random MC), of the same movie where there are movies.",
        params=(
            Param("foils", 4, "foils for each caption (contrast sets: 4)", "int"),
            Param("pool", 5000, "captions kept to draw from, for each movie; memory grows with it", "int"),
        ),
        deviations=(
            (
                "corrected: the negatives of a caption come from different videos, and none is a text that another "
                "caption of its own video has; the paper draws freely from other videos."
            ),
            "both modes: draws are from a seeded uniform sample of the run's captions, not from all of them.",
        ),
    ),
    "mask_fill": Entry(
        label="Masked word filling",
        path="generation.methods.mask_fill",
        summary="A verb or noun becomes a blank that a masked language model fills with another word.",
        params=(
            MASKED_LM,
            Param(
                "target",
                "verb",
                "what is replaced; object, subject: of the first verb; verb+object: as many foils of each",
                "choice",
                (*WORD_KINDS, "verb+object"),
            ),
            Param("which", "first", "where there are several of them", "choice", ("first", "last", "every")),
            Param("top", 32, "words taken from the model for each blank (ViLMA: 32; Feint6K: 10)", "int"),
            Param("foils", 5, "foils for each caption at most", "int"),
            Param(
                "vocabulary",
                "captions",
                "corrected mode: words whose lemma the run's captions use, or all whole words of the model",
                "choice",
                ("captions", "model"),
            ),
            Param("min_corpus", 50, "with fewer lemmas in the captions than this, all words of the model", "int"),
            Param("prompts", "", "other sentences for it, as “a person can {verb} a {mask}; …”; empty: the caption"),
            Param("min_probability", 0.01, "several models: what a word must have for a model's vote", "float"),
            Param("min_votes", 2, "several models: votes that a word needs", "int"),
            TAGGER,
            DEVICE,
        ),
        deviations=(
            (
                "corrected: the vocabulary is masked before the best are taken: whole words of the form that stood "
                "there (“folds”: third person), of another lemma, in use in the run's captions; the papers take the "
                "best of all words and filter afterwards, so that many captions keep none."
            ),
            "both modes: candidates are words of one token, and never the word that stood there.",
            "Feint6K finds its words with an AMR parser; here they are found by part of speech.",
        ),
    ),
    "span_infill": Entry(
        label="Span infilling",
        path="generation.methods.span_infill",
        summary="A verb phrase becomes a blank that a text-to-text model fills with another one.",
        params=(
            Param(
                "model",
                "google-t5/t5-base",
                "a text-to-text model with sentinels: hub id or folder (ViLMA: google-t5/t5-large), or one tuned here",
            ),
            Param(
                "pattern",
                "both",
                "what is replaced: a verb, a verb with the preposition behind it, or each of them by itself",
                "choice",
                ("verb", "verb_preposition", "both"),
            ),
            Param("which", "first", "where there are several verbs", "choice", ("first", "last", "every")),
            Param("beams", 50, "beams of the search (contrast sets: 50; ViLMA: 64)", "int"),
            Param("top", 50, "spans taken from the model for each blank (contrast sets: 50)", "int"),
            Param("longest", 8, "tokens that a span may have", "int"),
            Param("foils", 5, "foils for each caption at most", "int"),
            Param("prompt", "", "ViLMA, rare actions: “a person can {span}” stands for all before the blank"),
            Param(
                "stop",
                "pronouns,conjunctions",
                "lists of words that no span may hold: generic, touching (verbs), pronouns, conjunctions",
            ),
            TAGGER,
            DEVICE,
        ),
        deviations=(
            (
                "corrected: a span is a verb in the form that stood there, alone or with words that link its object "
                "(“climbs up”); the papers take any words and filter afterwards."
            ),
            "both modes: the stop lists are our own; ViLMA gives examples of each (use, have; hold, reach; I; and).",
        ),
    ),
    "object_swap": Entry(
        label="Object swap",
        path="generation.methods.object_swap",
        summary="“cutting a keyboard” becomes “cutting a rope”, by models that vote, of what a detector does not see.",
        params=(
            Param(
                "model",
                "google-bert/bert-base-uncased, FacebookAI/roberta-base, albert/albert-base-v2",
                "masked language models that vote: hub ids or folders, with commas",
            ),
            Param("top", 50, "words taken from each model before they vote", "int"),
            Param("foils", 5, "foils for each caption at most (ViLMA: the 5 best)", "int"),
            Param(
                "prompts",
                "a person can {verb} a {mask}; a person can {verb} an {mask}; a person can {verb} some {mask}",
                "sentences that the models fill; empty: the caption",
            ),
            Param("min_probability", 0.01, "what a word must have for a model's vote", "float"),
            Param("min_votes", 2, "votes that a word needs", "int"),
            Param(
                "vocabulary",
                "captions",
                "corrected mode: words whose lemma the run's captions use, or all whole words of the model",
                "choice",
                ("captions", "model"),
            ),
            Param("min_corpus", 50, "with fewer lemmas in the captions than this, all words of the model", "int"),
            Param("detector", "facebook/detr-resnet-101@no_timm", DETECTOR_HELP),
            *DETECTED,
            TAGGER,
            DEVICE,
        ),
        deviations=(
            (
                "corrected: the vocabulary is masked before the best are taken, as in masked word filling; the paper "
                "takes the best of all words."
            ),
            "both modes: a video without a file is not looked at; its caption's fact “objects” is all that is known.",
            (
                "both modes: words that name the same (“cell phone”, “phone”) are a list of ours; what names the "
                "caption's own object is dropped as well."
            ),
        ),
    ),
    "proficiency_object": Entry(
        label="Proficiency: object",
        path="generation.methods.proficiency_object",
        summary="The simpler skill of an item: its object (else its subject) becomes another one.",
        params=(
            Param("model", "FacebookAI/roberta-large", MASKED_LM.help),
            Param("spans", "", "also phrases, by a text-to-text model: hub id or folder (ViLMA: google-t5/t5-large)"),
            Param("top", 3, "words, and phrases, taken from each model (ViLMA: 3)", "int"),
            *JUDGES,
            Param("min", 0.8, "grammaticality that the foil needs", "float"),
            Param("min_probability", 0.01, "several models: what a word must have for a model's vote", "float"),
            Param("min_votes", 2, "several models: votes that a word needs", "int"),
            TAGGER,
            DEVICE,
        ),
        deviations=(
            "corrected: words of the same number and another lemma only, before the best are taken.",
            "corrected: a phrase is at most three words, the last a noun of the same number; the paper takes any.",
        ),
    ),
    "chat": Entry(
        label="Instruction model",
        path="generation.methods.chat",
        summary="“installs a wheel to a bicycle” becomes “uninstalls a wheel from a bicycle”, by a chat model.",
        params=(
            *ASKED,
            Param("template", "counterfactual@1", "the prompt with its examples, by name and version"),
            Param("foils", 5, "foils for each caption, asked for together (Feint6K: 10 or 5); at most 20", "int"),
            Param("temperature", 0.0, "0: the likeliest answer; above: drawn by the seed", "float"),
            Param("max_tokens", 600, "tokens of an answer at most", "int"),
            *ASKING_LIMITS,
        ),
        deviations=(
            "both modes: instruction and examples are our own; Feint6K prints none, and names no chat model.",
            (
                "corrected: a foil takes its caption's first letter (large or small) and its full stop or none, so "
                "that neither tells which of the two a machine wrote."
            ),
        ),
    ),
    "proficiency_action": Entry(
        label="Proficiency: action",
        path="generation.methods.proficiency_action",
        summary="“a man performs push-ups” becomes “a man performs squats”: counting's simpler skill, in four stages.",
        params=(
            Param("spans", "google-t5/t5-large", "stage 1: a text-to-text model with sentinels: hub id or folder"),
            Param("beams", 16, "beams of its search, and spans taken from it for each verb phrase", "int"),
            Param("model", "FacebookAI/roberta-large", "stage 2: " + MASKED_LM.help),
            Param("top", 3, "foils of a stage that are judged (ViLMA: 3)", "int"),
            *JUDGES,
            Param("min", 0.8, "grammaticality that a foil of stages 1 and 2 needs", "float"),
            Param("pool", 2000, "stage 3: captions kept to draw from, for each category", "int"),
            Param("min_probability", 0.01, "several models: what a word must have for a model's vote", "float"),
            Param("min_votes", 2, "several models: votes that a word needs", "int"),
            TAGGER,
            DEVICE,
        ),
        deviations=(
            "corrected: spans and words in the form that stood there; in stage 3 subjects of one number only.",
            "both modes: beams and the foils judged a stage are not printed in the paper; three as in its C.1.",
            "both modes: a person looks at the foils as at all others, in review; the paper did so between the stages.",
        ),
    ),
    "person": Entry(
        label="A person writes it",
        path="generation.methods.person",
        summary="Blanks that annotators fill (VerbH, Feint6K); no candidate is made.",
        params=(Param("foils", 0, "foils for each caption; 0: as many as the subtest asks for (Feint6K: 5)", "int"),),
    ),
    "fake": Entry(
        label="Deterministic word swap",
        path="generation.methods.fake",
        summary="For tests, demonstrations and object swaps by list: “circle” becomes “square”.",
        published=False,
        params=(
            Param("foils", 1, "foils for each caption at most", "int"),
            Param(
                "lexicon",
                "",
                "“circle:square,square:triangle|star”: words or phrases and what replaces them; empty: any longer "
                "word is replaced by a noun of a fixed list",
            ),
        ),
    ),
}
METHODS = Registry("methods", _METHODS)
