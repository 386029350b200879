"""The foil methods: one file in this folder for each, and one row here, or in `_model_methods.py` if it asks a model.

The menu imports none of the methods.
"""

from generation.methods._model_methods import MODEL_METHODS
from generation.parameters import (
    DETECTED,
    DETECTOR_HELP,
    DEVICE,
    TAGGER,
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
        example=("A boy pours water into a cup.", "A boy pours water out of a cup."),
        main=("pairs", "top"),
        summary="“pouring water into a cup” becomes “pouring water out of a cup”.",
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
                "min captions with a preposition to prefer the captions' own prepositions; with fewer, the built-in "
                "list is used",
                "int",
            ),
            Param(
                "model",
                "",
                "a text-to-text model that ranks the candidates (ViLMA: google-t5/t5-base): hub id or "
                "folder. Empty: only replacements that fit the verb and the landmark are made, exact opposites first; "
                "the rest is random, weighted by how often the captions use each preposition",
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
                "corrected, without a model: a table of verbs, prepositions and landmarks gives the replacements. "
                "Exact opposites (up/down, into/out of, in front of/behind …) come first. A caption that fits no row "
                "is skipped. The paper draws any preposition of its corpus."
            ),
            (
                "corrected: “before” and “after” are exchanged before an activity (“before cooking”). The paper has "
                "no such relation."
            ),
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
            (
                "corrected: such a caption is skipped if its rest does not fit the opposite verb. Examples are a "
                "tool (“with a cloth”), a purpose (“to find a toy”), or a direction that only one verb takes."
            ),
            (
                "corrected: the opposite may depend on the thing (removes a shirt / puts it on; removes a lid / "
                "attaches it). Nothing “combines” a single thing."
            ),
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
    **MODEL_METHODS,
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
