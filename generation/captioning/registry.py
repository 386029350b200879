"""The caption makers. One maker = one file beside this one and one row here; nothing is imported to show the menu."""

from generation.parameters import ASKED, ASKING_LIMITS, TAGGER
from text.plugins import Registry
from text.registry import Entry, Param

_CAPTIONERS: dict[str, Entry] = {
    "count_template": Entry(
        label="Counting template",
        path="generation.captioning.count_template",
        summary="“someone performs exactly <number> push-ups” and the count 3 become “… exactly three push-ups”.",
        params=(
            Param("max", 10, "sources with a larger count are skipped (ViLMA: 10); at most 20", "int"),
            Param("style", "words", "how the count is written: three, or 3", "choice", ("words", "digits")),
        ),
        deviations=(
            (
                "corrected: the noun and the verb agree with one (“exactly one push-up”), by rule; the paper had a "
                "native speaker mend what the templates gave, and mode paper fills the slot and no more."
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
                "which of the four templates are written",
                "choice",
                ("all", "action", "pre_state", "post_state", "reverse"),
            ),
            TAGGER,
        ),
        deviations=(
            "corrected: several things take “are”; the paper writes “is” (“the chair and the base is attached”).",
            "corrected: no reverse caption where no verb undoes the change (chop, tear); the paper writes one.",
        ),
    ),
    "verb_noun_caption": Entry(
        label="Verb and noun",
        path="generation.captioning.verb_noun_caption",
        summary="cut, keyboard becomes “cutting a keyboard”.",
        deviations=("both modes: what is not counted takes “some” (“pouring some milk”).",),
    ),
    "polish": Entry(
        label="Polished sentence",
        path="generation.captioning.polish",
        summary="“Man hold a cup, look angry” becomes “A man clutches a cup, his gaze smouldering.”, by a chat model.",
        params=(
            *ASKED,
            Param("template", "polish@1", "the prompt, by name and version"),
            Param("together", 10, "mode paper: sentences that stand in one prompt, at most 50", "int"),
            Param("temperature", 0.0, "0: the likeliest answer; above: drawn by the seed", "float"),
            Param("max_tokens", 120, "tokens of an answer for one sentence at most", "int"),
            *ASKING_LIMITS,
        ),
        deviations=(
            (
                "corrected: one sentence is asked about at a time, so that answers cannot be mixed up, and an answer "
                "that repeats its source or runs on is dropped; the paper sends several and reads a numbered list."
            ),
        ),
    ),
    "hard_positive": Entry(
        label="Hard positive",
        path="generation.captioning.hard_positive",
        summary="“a kid sits beside a couch” becomes “a kid sits next to a couch”: reworded, and still true.",
        params=(Param("each", 1, "rewordings of a caption at most", "int"), TAGGER),
        deviations=("both modes: words are exchanged by a list of ours; the paper's rewordings are a model's.",),
    ),
    "existence_caption": Entry(
        label="Existence caption",
        path="generation.captioning.existence_caption",
        summary="“washing some fridges” becomes “there are some fridges”, the proficiency caption of rare actions.",
        params=(TAGGER,),
        deviations=("both modes: the thing is the caption's object, or its only noun, found by the tagger.",),
    ),
    "action_caption": Entry(
        label="Action without its count",
        path="generation.captioning.action_caption",
        summary="“a man performs exactly three push-ups” becomes “a man performs push-ups”, counting’s proficiency.",
        deviations=("both modes: by rule; “in exactly two moves” goes whole, one push-up becomes push-ups.",),
    ),
}
CAPTIONERS = Registry("captioners", _CAPTIONERS)
