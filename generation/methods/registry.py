"""The foil methods: one file in this folder for each, and one row here, or in `_model_methods.py` if it asks a model.

The menu imports none of the methods.
"""

from foilworks.core.text.plugin_contracts import Call, Contract
from foilworks.core.text.plugins import Registry
from foilworks.core.text.registry import Entry, Param
from generation.methods._model_methods import MODEL_METHODS
from generation.parameters import (
    DETECTED,
    DETECTOR_HELP,
    DEVICE,
    TAGGER,
)
from generation.records import Blank, FoilDraft, Shortfall, Skip

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
            Param("max", 10, "largest count (ViLMA: 10; at most 20); captions with a larger count are skipped", "int"),
            Param(
                "split",
                "any",
                (
                    "easy: captions with a count of 1, 2 or 3; difficult: captions whose foil has a count of 1, 2 or "
                    "3; any: all captions"
                ),
                "choice",
                ("any", "easy", "difficult"),
            ),
            Param(
                "anchor",
                "any",
                "any: every number word that counts something; exactly: only “exactly N” and “N times in total”",
                "choice",
                ("any", "exactly"),
            ),
            Param(
                "leftover",
                "skip",
                "no effect: the filter “Balanced draw” leaves out captions without a partner. Kept for old settings",
                "choice",
                ("skip", "draw"),
            ),
        ),
        deviations=(
            (
                "corrected: the balanced draw of a run chooses the counts. In each pair of counts, each count is then "
                "true about equally often, so a model gains nothing by always choosing the smaller one. The paper draws"
                " the wrong count at random."
            ),
            (
                "corrected: both counts of a pair may be from 1 to 3, or both from 4 to max. In the paper, one is"
                " always small and the other large. With split=easy or split=difficult, the text gives the answer "
                "away, and the balanced draw leaves nothing: use split=any."
            ),
            (
                "both modes: a caption is skipped if its count differs from the count annotated for its video. "
                "Rules adapt nouns and verbs; the authors of the paper wrote templates by hand."
            ),
            (
                "paper: foil counts are as frequent as in the released files, exactly. The published code draws each "
                "count at random, in proportion to the clips of QUVA with that count. Counts above 10 have the weight "
                "of 10."
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
            Param("top", 10, "max foils per caption (ViLMA: the best 10)", "int"),
            Param(
                "pairs",
                "",
                (
                    "phrases to exchange, in both directions, such as “up:down,into:out of”. A caption with both "
                    "phrases of a pair is skipped, except “from left to right”. Empty: all prepositions. For captions "
                    "such as “moves up”, enter the pair “up:down”, because “up” is not a preposition there"
                ),
            ),
            Param(
                "min_corpus",
                20,
                (
                    "if at least this many captions contain any preposition, new prepositions are taken from these "
                    "captions, otherwise from a built-in list"
                ),
                "int",
            ),
            Param(
                "model",
                "",
                (
                    "text-to-text model that ranks the foils: Hugging Face ID or folder (ViLMA: google-t5/t5-base). "
                    "Empty: a table allows only prepositions that fit both the verb and the noun of the caption. Exact "
                    "opposites come first, the others in random order, weighted by how often the captions use each"
                ),
            ),
            DEVICE,
        ),
        deviations=(
            (
                "corrected: the preposition is blanked out, and the model scores how likely the new one is to fill the "
                "blank, as in its training. The paper compares the perplexity of whole sentences."
            ),
            (
                "corrected, without a model: a table of verbs, prepositions and nouns gives the replacements. Exact "
                "opposites (up/down, into/out of, in front of/behind) come first. A caption that fits no row is "
                "skipped. The paper draws any preposition of its corpus."
            ),
            (
                "corrected: “before” and “after” replace each other if an activity follows (“before cooking”). The "
                "paper has no such relation."
            ),
            (
                "corrected: to score a sentence that begins with a verb, “someone” is put before it. The paper "
                "puts it before every sentence."
            ),
            (
                "corrected: phrases such as “from left to right” are replaced only as a whole, by their opposite."
                " The paper also produces “over left to right”."
            ),
            (
                "corrected: word lists block replacements that could stay true (on/onto, out of/from, "
                "behind/outside, in/on a chair …). Verb particles (pick up), fixed phrases (in total, in a red "
                "shirt) and “with” are not replaced. A preposition of place is replaced only by another of place,"
                " and a preposition of direction only by another of direction."
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
                "corrected: captions whose swap may stay true are skipped: symmetric verbs (hug, meet), “each "
                "other”, “dances with”, “is a doctor”. Looks and talks are skipped, but not “looks down at” or "
                "“looks angrily at”. Participants with a possessive (“his brother”) and unclear descriptions are "
                "skipped. So are actors who cannot do it: animals, a small child who carries an adult, somebody "
                "asleep. The paper swaps them all."
            ),
            (
                "both modes: whole noun phrases with their descriptions are swapped by rule. Verbs and "
                "pronouns agree: “looks to her right” becomes “looks to his right”. The paper's captions "
                "came with annotated participants. Captions whose participants have the same words are skipped."
            ),
        ),
    ),
    "state_change": Entry(
        label="Change of state",
        path="generation.methods.state_change",
        kind="rule",
        example=("Someone folds the paper.", "Someone unfolds the paper."),
        main=("subtest",),
        summary=(
            "“Someone folds the paper.” becomes “Someone unfolds the paper.” Also changes the states before and after."
        ),
        params=(
            Param(
                "subtest",
                "auto",
                (
                    "captions to use. auto: all captions, each by its template; action, pre_state, post_state, "
                    "reverse: only captions with this template"
                ),
                "choice",
                ("auto", "action", "pre_state", "post_state", "reverse"),
            ),
            Param("foils", 1, "max foils per caption, each with another verb that undoes the change", "int"),
            TAGGER,
        ),
        deviations=(
            (
                "corrected: changes that cannot be undone (chop, tear, cook) get no foil with an opposite verb. "
                "The paper and mode paper write such foils (chops / connects)."
            ),
            (
                "corrected: the preposition changes with its verb (“attaches it to” / “detaches it from”). The "
                "paper keeps the preposition (“detaches the pen drive to the cd player”)."
            ),
            "corrected: captions without a template also get foils (“a man opens a door”).",
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
        main=("foils",),
        params=(Param("foils", 1, "max foils per caption", "int"), TAGGER),
        deviations=(
            (
                "corrected: a caption is skipped if it is unclear who “his” or “her” means. Examples are a second"
                " person of the same gender, a repeated noun, or a plural noun. The paper swaps every such "
                "pronoun."
            ),
            (
                "corrected: “her” becomes “his” or “him”, depending on the next words. If both fit "
                "(“hands her flowers”), the caption is skipped. The paper does not describe this; mode "
                "paper always writes “his”."
            ),
            (
                "corrected: negated nouns (“no man is in the room”), names (“lady gaga”) and nouns in the wrong "
                "number (“two woman”) are skipped. So are captions with an attribute of one gender (“bearded”, "
                "“lipstick”) and foils such as “a man and a man”."
            ),
            "corrected: “guys” never replaces women, because it may name women; “guy” never replaces a girl.",
        ),
    ),
    "colour_swap": Entry(
        label="Colour swap",
        path="generation.methods.colour_swap",
        kind="rule",
        example=("A red ball hits a blue box.", "A blue ball hits a red box."),
        main=("foils",),
        summary="“A red ball hits a blue box” becomes “A blue ball hits a red box”. Both use the same words.",
        params=(Param("foils", 1, "max foils per caption", "int"), TAGGER),
        published=False,
        deviations=(
            (
                "Some colours are not swapped, because the foil could stay true. These are two colours of one "
                "thing (“red and white shirt”), colours of two things with the same name, and colours in names "
                "(“orange juice”)."
            ),
        ),
    ),
    "event_order": Entry(
        label="Event order",
        path="generation.methods.event_order",
        kind="rule",
        example=("The boy opens the door and then sits down.", "The boy sits down and then opens the door."),
        summary="“opens a door, then sits down” becomes “sits down, then opens a door”; “before” becomes “after”.",
        params=(TAGGER,),
        published=False,
        deviations=(
            (
                "Both events must be complete and happen once: talking may be before and after. Skipped are events "
                "that need each other (“opens the box and then looks into it”), and more than two ordered events."
            ),
        ),
    ),
    "direction": Entry(
        label="Direction and manner",
        path="generation.methods.direction",
        kind="rule",
        example=("The skater spins clockwise.", "The skater spins counterclockwise."),
        main=("foils",),
        summary="“turns to the left” becomes “turns to the right”, “slowly walks” becomes “quickly walks”.",
        params=(Param("foils", 1, "max foils per caption, each with another opposite", "int"),),
        published=False,
        deviations=(
            (
                "Words are replaced only where they say how something moves or is done: not “the man left”, “all "
                "right”, “walks up to him”. Prepositions with a place (“up the stairs”) are those of “Preposition "
                "replacement”."
            ),
        ),
    ),
    "attribute_swap": Entry(
        label="Attribute binding",
        path="generation.methods.attribute_swap",
        kind="rule",
        example=("A wooden spoon lies in a metal bowl.", "A metal spoon lies in a wooden bowl."),
        main=("foils",),
        summary="“A wooden spoon in a metal bowl” becomes “A metal spoon in a wooden bowl”. Both use the same words.",
        params=(Param("foils", 1, "max foils per caption, each of another pair of attributes", "int"), TAGGER),
        published=False,
        deviations=(
            (
                "Attributes are sizes, ages, heights, materials, patterns, hair, clothes, sides and counts. Only "
                "attributes that exclude each other change places. Colours are those of “Colour swap”."
            ),
        ),
    ),
    "negation": Entry(
        label="Negation",
        path="generation.methods.negation",
        kind="rule",
        example=("A man with no hat waves at a dog.", "A man with a hat waves at a dog."),
        summary="“a man with no hat” becomes “a man with a hat”, “in a red shirt” becomes “with no shirt”.",
        params=(TAGGER,),
        published=False,
        deviations=(
            (
                "Denied are things that captions say to be missing: hats, shoes, shirts of men. Verbs get no “not”, "
                "and “fails to” stays: readers rejected both."
            ),
            (
                "Starting, stopping, “again” and “for the first time” are not exchanged: one clip may show both, so "
                "the foil may be true."
            ),
        ),
    ),
    "identity_swap": Entry(
        label="Identity swap",
        path="generation.methods.identity_swap",
        kind="rule",
        example=("Harry looks at Hermione.", "Ron looks at Hermione."),
        main=("characters", "foils"),
        summary=(
            "“Harry looks at Hermione” becomes “Ron looks at Hermione”. The new character has the same movie "
            "and gender."
        ),
        params=(
            Param("foils", 1, "max foils per caption", "int"),
            Param(
                "characters",
                [],
                (
                    'characters for captions that come without a list of characters: a JSON list of {"name", '
                    '"gender", "movie", "frequency", "aliases"}'
                ),
                "json",
            ),
            Param(
                "draw",
                "uniform",
                (
                    "uniform: each character is equally likely, as in the paper; frequency: as likely as the "
                    "character is frequent in the train captions"
                ),
                "choice",
                ("uniform", "frequency"),
            ),
        ),
        deviations=(
            (
                "corrected: only one name changes, and none that occurs twice, even misspelt. A caption with a "
                "relative, a role or a possession of the person is skipped. The paper decides for each mention."
            ),
            (
                "both modes: a name in capitals (“JENKO”) is found, and its foil is in capitals. A name that is also "
                "a word (“Will”, “Mark”) is skipped at the start of a sentence unless a name fits there."
            ),
            "both modes: the frequencies of a foil with several swaps are those of the first swap.",
        ),
    ),
    "existence": Entry(
        label="Existence",
        path="generation.methods.existence",
        kind="rule",
        example=("There is at least one fridge.", "There is at least one drum."),
        main=("foils",),
        summary=(
            "“There is at least one fridge” becomes “There is at least one drum”. The drum comes from another video."
        ),
        params=(
            Param("foils", 1, "max foils per caption", "int"),
            Param(
                "things",
                "elsewhere",
                "elsewhere: only things of a domain that no caption of the video has, unless a detector looked; any: "
                "all things of other videos",
                "choice",
                ("elsewhere", "any"),
            ),
            Param("detector", "", f"{DETECTOR_HELP} (ViLMA: facebook/detr-resnet-101@no_timm)"),
            *DETECTED,
            DEVICE,
        ),
        deviations=(
            (
                "corrected: only the thing changes, and it is singular or plural as in the caption. The paper "
                "also changes the words before it (“is at least one shirt” / “are some peppers”)."
            ),
            (
                "both modes: a thing is also excluded if a caption of the video names it. The same is true if the "
                "caption's list of objects contains the thing or a synonym. For a video without a file, there is no "
                "other check."
            ),
            "both modes: for uncountable things the text is “there is some water”; the paper has no such text.",
            (
                "both modes: a plural without a singular (“jeans”) is phrased as “there are some jeans”. In mode "
                "corrected it only replaces other plurals."
            ),
        ),
    ),
    "random_caption": Entry(
        label="Random captions",
        path="generation.methods.random_caption",
        kind="rule",
        example=("A man folds a shirt.", "Two dogs run on a beach."),
        main=("foils",),
        summary="Uses captions of other videos as easy foils (Random MC), from the same movie if movies are known.",
        params=(
            Param("foils", 4, "foils per caption (contrast sets: 4)", "int"),
            Param("pool", 5000, "max captions to draw from, per movie; a larger number needs more memory", "int"),
        ),
        deviations=(
            (
                "corrected: all foils of a caption come from different videos, and no foil repeats another "
                "caption of the same video. The paper draws from other videos without these conditions."
            ),
            (
                "both modes: foils are drawn from a random sample of the run's captions, which the seed "
                "determines, not from all captions."
            ),
        ),
    ),
    **MODEL_METHODS,
    "person": Entry(
        label="Written by people",
        path="generation.methods.person",
        kind="people",
        example=("A woman ties her shoe.", "A woman takes off her shoe."),
        main=("foils",),
        summary="Annotators write the foils (VerbH, Feint6K). Nothing is generated.",
        params=(Param("foils", 0, "foils per caption; 0: as many as the subtest needs (Feint6K: 5)", "int"),),
    ),
    "fake": Entry(
        label="Deterministic word swap",
        path="generation.methods.lexicon_swap",
        kind="rule",
        example=("A red circle moves.", "A red square moves."),
        main=("lexicon", "foils"),
        summary=(
            "Replaces words from a list: “circle” becomes “square”. For tests, demonstrations and simple object swaps."
        ),
        published=False,
        params=(
            Param("foils", 1, "max foils per caption", "int"),
            Param(
                "lexicon",
                "",
                (
                    "words or phrases with their replacements, such as “circle:square,square:triangle|star”. A "
                    "replacement that the caption has already is not used. Empty: a"
                    " long word is replaced by a noun from a fixed list"
                ),
            ),
        ),
    ),
}
_CONTRACT = Contract(
    {"make": Call(("captions",), ("params", "mode", "seed"), yields=(FoilDraft, Skip, Shortfall, Blank))},
    defaults={"VERSION": "1"},
)
METHODS = Registry("methods", _METHODS, _CONTRACT)
