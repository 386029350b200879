"""The foil methods: one file in this folder and one row here for each. The menu imports none of them."""

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
        kind="rule",
        example=("A dog jumps exactly three times.", "A dog jumps exactly nine times."),
        main=("foils", "max", "anchor"),
        summary="“exactly three times” becomes “exactly nine times”; nouns and verbs agree.",
        params=(
            Param("foils", 1, "foils per caption", "int"),
            Param("max", 10, "captions with a larger count are skipped (ViLMA: 10); at most 20", "int"),
            Param(
                "split",
                "any",
                "easy: captions that state 1, 2 or 3; difficult: captions whose foils state 1, 2 or 3; any: both",
                "choice",
                ("any", "easy", "difficult"),
            ),
            Param(
                "anchor",
                "exactly",
                "exactly: only “exactly N” and “N times in total”; any: every number word that counts something",
                "choice",
                ("exactly", "any"),
            ),
            Param(
                "leftover",
                "skip",
                "what to do with a caption when no other caption can trade counts with it: skip it, or "
                "draw a count at random",
                "choice",
                ("skip", "draw"),
            ),
        ),
        deviations=(
            (
                "corrected: captions of a run trade counts, so that in each pair {a, b} each number is "
                "true equally often. Choosing the smaller number then gains nothing. The paper draws the "
                "wrong count at random."
            ),
            (
                "corrected: foils may also differ within 1..3 or within 4..max; the paper's easy and "
                "difficult subtests always cross. With split=easy or difficult, each half alone can "
                "still be solved from text: use both."
            ),
            (
                "both modes: a caption whose count contradicts its video's annotated count is skipped. "
                "Nouns and verbs are inflected by rule; the paper wrote templates by hand."
            ),
        ),
    ),
    "preposition": Entry(
        label="Preposition replacement",
        path="generation.methods.preposition",
        kind="rule",
        example=("A boy pours water onto a chair.", "A boy pours water out of a chair."),
        main=("pairs", "top"),
        summary="“pouring water onto a chair” becomes “pouring water out of a chair”.",
        params=(
            Param("top", 10, "max candidates per caption (ViLMA: the 10 best)", "int"),
            Param(
                "pairs",
                "",
                "use only these opposites, such as “left to right:right to left,up:down”, in both "
                "directions. Captions such as “moves up” need up:down here, because alone such a word is "
                "not a preposition",
            ),
            Param(
                "min_corpus",
                20,
                "min captions with a preposition to draw from the captions' own prepositions; with "
                "fewer, the built-in list is used",
                "int",
            ),
            Param(
                "model",
                "",
                "a text-to-text model that ranks the candidates (ViLMA: google-t5/t5-base): hub id or "
                "folder. Empty: the order is random, weighted by how often the captions use each "
                "preposition",
            ),
            DEVICE,
        ),
        deviations=(
            (
                "corrected: the model estimates how likely the new preposition is in the blank, as in "
                "its training. The paper compares perplexities of whole sentences that the model encodes "
                "and decodes."
            ),
            "corrected: only a sentence that begins with its verb gets “someone” in front, for scoring.",
            (
                "corrected: phrases such as “from left to right” change only as a whole, into the "
                "opposite. The paper also writes “over left to right”."
            ),
            (
                "corrected: word lists block replacements that would stay true (on/onto, out of/from, "
                "behind/outside, in/on a chair …). Particles of verbs (pick up), fixed phrases (in "
                "total, in a red shirt) and “with” are not replaced. A preposition of place is replaced by "
                "one of place, and one of direction by one of direction."
            ),
        ),
    ),
    "actor_swap": Entry(
        label="Actor swap",
        path="generation.methods.actor_swap",
        kind="rule",
        example=("A policeman holds a blond man.", "A blond man holds a policeman."),
        summary="“A policeman holds a blond man” becomes “A blond man holds a policeman”.",
        params=(TAGGER,),
        deviations=(
            (
                "corrected: captions with symmetric verbs (hug, meet, kiss, “stare at each other”, "
                "“dances with”) are skipped, and participants named by a possessive (“his brother”). The "
                "paper swaps them."
            ),
            (
                "both modes: whole noun phrases with their descriptions are swapped by rule, and the "
                "verb agrees. The paper's captions came with annotated participants. Captions whose "
                "participants have the same words are skipped."
            ),
        ),
    ),
    "state_change": Entry(
        label="Change of state",
        path="generation.methods.state_change",
        kind="rule",
        example=("Someone folds the paper.", "Someone unfolds the paper."),
        main=("subtest",),
        summary="“Someone folds the paper.” becomes “Someone unfolds the paper.”; also for the states "
        "before and after.",
        params=(
            Param(
                "subtest",
                "auto",
                "auto: by each caption's template; or only action, pre_state, post_state or reverse",
                "choice",
                ("auto", "action", "pre_state", "post_state", "reverse"),
            ),
            TAGGER,
        ),
        deviations=(
            (
                "corrected: irreversible changes (chop, tear, cook) get no action or reverse foil. The "
                "paper and mode paper use an opposite verb (chops / connects)."
            ),
            (
                "corrected: the preposition changes with its verb (“attaches it to” / “detaches it "
                "from”). The paper leaves it (“detaches the pen drive to the cd player”)."
            ),
            "corrected: the verb of change is also replaced in captions without a template (“a man opens a door”).",
            "both modes: the lexicon is our own; the paper built its lexicon from ConceptNet, WordNet and manual work.",
        ),
    ),
    "gender_swap": Entry(
        label="Gender swap",
        path="generation.methods.gender_swap",
        kind="rule",
        example=("A woman is pushing her stroller.", "A man is pushing his stroller."),
        summary="“A woman is pushing her stroller” becomes “A man is pushing his stroller”.",
        params=(TAGGER,),
        deviations=(
            (
                "corrected: a caption is skipped if the owner of “his” or “her” is unclear. Examples are "
                "a second person of the same gender, a repeated noun, or a plural noun. The paper swaps "
                "every such pronoun."
            ),
            (
                "corrected: “her” becomes “his” or “him”, depending on the next words. If both fit "
                "(“hands her flowers”), the caption is skipped. The paper does not describe this; mode "
                "paper always writes “his”."
            ),
        ),
    ),
    "colour_swap": Entry(
        label="Colour swap",
        path="generation.methods.colour_swap",
        kind="rule",
        example=("A red ball hits a blue box.", "A blue ball hits a red box."),
        main=("foils",),
        summary="“A red ball hits a blue box” becomes “A blue ball hits a red box”: the same words.",
        params=(Param("foils", 1, "max foils per caption", "int"), TAGGER),
        published=False,
        deviations=(
            (
                "Colours of one thing (“red and white shirt”), of two things with the same name and in "
                "names (“orange juice”) are not swapped. Their foils could stay true."
            ),
        ),
    ),
    "identity_swap": Entry(
        label="Identity swap",
        path="generation.methods.identity_swap",
        kind="rule",
        example=("Harry looks at Hermione.", "Ron looks at Hermione."),
        main=("characters", "foils"),
        summary="“Harry looks at Hermione” becomes “Ron looks at Hermione”: same movie, same gender.",
        params=(
            Param("foils", 1, "max foils per caption", "int"),
            Param(
                "characters",
                [],
                "the project's characters, for captions without characters in their facts: a list of "
                '{"name", "gender", "movie", "frequency", "aliases"}',
                "json",
            ),
            Param(
                "draw",
                "uniform",
                "uniform: each character is equally likely (the paper); frequency: in proportion to "
                "mentions in the train captions",
                "choice",
                ("uniform", "frequency"),
            ),
        ),
        deviations=(
            (
                "corrected: all mentions of a character change together, and nobody becomes a character "
                "whom the caption already names (“Harry looks at Harry”). The paper decides for each "
                "mention."
            ),
        ),
    ),
    "existence": Entry(
        label="Existence",
        path="generation.methods.existence",
        kind="rule",
        example=("There is at least one fridge.", "There is at least one lemon."),
        main=("foils",),
        summary="“there is at least one fridge” becomes “there is at least one egg”, a thing from another video.",
        params=(
            Param("foils", 1, "max foils per caption", "int"),
            Param("detector", "", f"{DETECTOR_HELP} (ViLMA: facebook/detr-resnet-101@no_timm)"),
            *DETECTED,
            DEVICE,
        ),
        deviations=(
            (
                "corrected: the thing takes the form that the caption's own frame needs, so that one "
                "word changes. The paper changes the frame as well (“is at least one shirt” / “are some "
                "peppers”)."
            ),
            (
                "both modes: a thing is also excluded if any caption of the video names it, or the fact "
                "“objects” lists it or a synonym. For a video without a file, nothing else is known."
            ),
            "both modes: uncountable things are phrased as “there is some water”; the paper has no such frame.",
        ),
    ),
    "random_caption": Entry(
        label="Random captions",
        path="generation.methods.random_caption",
        kind="rule",
        example=("A man folds a shirt.", "Two dogs run on a beach."),
        main=("foils",),
        summary="Captions of other videos as easy negatives (Random MC), from the same movie if movies are known.",
        params=(
            Param("foils", 4, "foils per caption (contrast sets: 4)", "int"),
            Param("pool", 5000, "captions to draw from, per movie; memory grows with it", "int"),
        ),
        deviations=(
            (
                "corrected: the negatives of a caption come from different videos, and none repeats "
                "another caption of its own video. The paper draws from other videos without these "
                "conditions."
            ),
            "both modes: foils are drawn from a seeded uniform sample of the run's captions, not from all of them.",
        ),
    ),
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
    "person": Entry(
        label="Written by people",
        path="generation.methods.person",
        kind="people",
        example=("A woman ties her shoe.", "A woman takes off her shoe."),
        main=("foils",),
        summary="Blanks that annotators fill (VerbH, Feint6K); no candidates are generated.",
        params=(Param("foils", 0, "foils per caption; 0: as many as the subtest needs (Feint6K: 5)", "int"),),
    ),
    "fake": Entry(
        label="Deterministic word swap",
        path="generation.methods.fake",
        kind="rule",
        example=("A red circle moves.", "A red square moves."),
        main=("lexicon", "foils"),
        summary="For tests, demonstrations and object swaps by list: “circle” becomes “square”.",
        published=False,
        params=(
            Param("foils", 1, "max foils per caption", "int"),
            Param(
                "lexicon",
                "",
                "“circle:square,square:triangle|star”: words or phrases with their replacements. Empty: "
                "a noun from a fixed list replaces any longer word",
            ),
        ),
    ),
}
METHODS = Registry("methods", _METHODS)
