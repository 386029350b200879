"""The caption makers: one file in this folder and one row here for each. The menu imports none of them."""

from foilworks.core.text.plugin_contracts import Call, Contract
from foilworks.core.text.plugins import Registry
from foilworks.core.text.registry import Entry, Param
from generation.parameters import ASKED, ASKING_LIMITS, TAGGER
from generation.records import MadeCaption, Skip

_CAPTIONERS: dict[str, Entry] = {
    "count_template": Entry(
        label="Counting template",
        path="generation.captioning.count_template",
        summary="“someone performs exactly <number> push-ups” with the count 3 becomes “… exactly three push-ups”.",
        params=(
            Param("max", 10, "sources with a larger count are skipped (ViLMA: 10); at most 20", "int"),
            Param("style", "words", "how to write the count: three, or 3", "choice", ("words", "digits")),
        ),
        deviations=(
            (
                "corrected: noun and verb agree with one (“exactly one push-up”), by rule. In the paper "
                "a native speaker corrected the filled templates; mode paper only fills the slot."
            ),
        ),
    ),
    "cos_caption": Entry(
        label="Change-of-state caption",
        path="generation.captioning.cos_caption",
        summary="“a man folds a red shirt” becomes “Someone folds the red shirt.” and the three other templates.",
        params=(
            Param(
                "template",
                "all",
                "which of the four templates to write",
                "choice",
                ("all", "action", "pre_state", "post_state", "reverse"),
            ),
            TAGGER,
        ),
        deviations=(
            "corrected: several things get “are”; the paper writes “is” (“the chair and the base is attached”).",
            "corrected: no reverse caption if no verb undoes the change (chop, tear); the paper writes one.",
            (
                "both modes: the result may be the change. Pouring water into a cup gives “fills the cup”. "
                "Removing a box, revealing a coin, gives “reveals the coin”. Nothing is written for an attempt "
                "(“pretending to pour”)."
            ),
            (
                "both modes: an instruction without an actor gets “the person” (“ski down the hill”: “The person "
                "skis.”). The paper's annotators named the actor."
            ),
        ),
    ),
    "verb_noun_caption": Entry(
        label="Verb and noun",
        path="generation.captioning.verb_noun_caption",
        summary="cut, keyboard becomes “cutting a keyboard”.",
        deviations=("both modes: uncountable things get “some” (“pouring some milk”).",),
    ),
    "polish": Entry(
        label="Polished sentence",
        path="generation.captioning.polish",
        summary="“Man hold a cup, look angry” becomes “A man clutches a cup, his gaze smouldering.”, by a chat model.",
        params=(
            *ASKED,
            Param("template", "polish@1", "the prompt, by name and version"),
            Param("together", 10, "mode paper: sentences per prompt, at most 50", "int"),
            Param("temperature", 0.0, "0: the most likely answer; above 0: sampled with the seed", "float"),
            Param("max_tokens", 120, "max tokens of an answer per sentence", "int"),
            *ASKING_LIMITS,
        ),
        deviations=(
            (
                "corrected: each request has one sentence, so that answers cannot be mixed up. Answers "
                "that repeat their source or run on are dropped. The paper sends several sentences and "
                "reads a numbered list."
            ),
        ),
    ),
    "hard_positive": Entry(
        label="Hard positive",
        path="generation.captioning.hard_positive",
        summary="“a kid sits beside a couch” becomes “a kid sits next to a couch”: reworded, and still true.",
        params=(Param("each", 1, "max rewordings per caption", "int"), TAGGER),
        deviations=("both modes: words are replaced from a list of ours; in the paper a model rewords.",),
    ),
    "existence_caption": Entry(
        label="Existence caption",
        path="generation.captioning.existence_caption",
        summary="“washing some fridges” becomes “there are some fridges”, for the proficiency test of rare actions.",
        params=(TAGGER,),
        deviations=("both modes: the tagger finds the thing: the caption's object, or its only noun.",),
    ),
    "action_caption": Entry(
        label="Action without its count",
        path="generation.captioning.action_caption",
        summary="“a man performs exactly three push-ups” becomes “a man performs push-ups”, for the "
        "proficiency test of counting.",
        deviations=(
            "both modes: by rule; “in exactly two moves” is removed entirely, and one push-up becomes push-ups.",
        ),
    ),
}
_CONTRACT = Contract(
    {"make": Call(("sources",), ("params", "mode", "seed"), yields=(MadeCaption, Skip))}, defaults={"VERSION": "1"}
)
CAPTIONERS = Registry("captioners", _CAPTIONERS, _CONTRACT)
