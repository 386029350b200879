"""Say what each check measures and what to do about it, in plain words."""

from typing import NamedTuple


class Words(NamedTuple):
    """`title` names the check, `means` what its value is, `fix` what to do about it."""

    title: str
    means: str
    fix: str


TEXTS: dict[str, Words] = {
    "file": Words(
        "Gained from the order of the file",
        "Share of right answers that the order of the items, their ids and times add to their texts.",
        "Shuffle the items and the options of your file, and give the items ids without a meaning.",
    ),
    "model": Words(
        "Solved by a language model",
        "Share of right answers if the text that the language model finds most likely is chosen.",
        "Foils are less plausible than captions. Generate foils that a language model finds as likely as the captions.",
    ),
    "clips": Words(
        "Answered from the files of the clips",
        "Share of right answers by the words of the texts and the files of the clips: size, length, frame rate, "
        "encoder, sound, and how the clip is played. No frame is looked at.",
        "Decode and encode all clips in the same way. For each text, use as many clips as recorded as reversed ones.",
    ),
    "transcripts": Words(
        "Answered with what is spoken",
        "Share of right answers by the texts and the transcripts of the videos, on the items that have one. The result "
        "above reads no transcript.",
        "A model that hears answers these items without looking. Compare each model with itself on transcripts alone.",
    ),
    "knows": Words(
        "Known by a language model",
        "Share of right answers of the language model by the letters of the options, before it is tuned.",
        "The model knows the answers from elsewhere. Ask for what happens in this video, not for what is usual.",
    ),
    "learns": Words(
        "Learned by a language model",
        "Share of right answers after tuning on the other folds. ΔTsT is this value minus that before tuning.",
        "The items teach a model how to answer each other: an artefact. Remove what the shortcuts below name.",
    ),
    "position": Words(
        "Position of the answer",
        "Share of right answers if always the most frequent position is chosen, in the order of the file.",
        "Shuffle the options so that each position is right equally often.",
    ),
    "labels": Words(
        "Most frequent label",
        "Share of right answers if always the more frequent label is given: yes or true, or no or false.",
        "Give each label to half of the items, in each subtest. With a model's accuracy, report the share of the more "
        "frequent label: that is what a constant answer reaches.",
    ),
    "cues": Words(
        "Strongest single word",
        "Share of pairs in which the most one-sided word points to the answer.",
        "Use this word equally often in right and wrong texts, or remove it from both.",
    ),
    "divergence": Words(
        "Lexical divergence",
        "Jensen-Shannon divergence of the words of right and wrong texts, from 0 to 1. Chance is the value after "
        "exchanging the two sides at random.",
        "Right and wrong texts use different words. Check which words differ before you trust a model's score.",
    ),
    "edits": Words(
        "Small edits",
        "Share of pairs whose texts differ in at most two words.",
        "Small edits isolate one skill; large edits give more cues.",
    ),
    "same_texts": Words(
        "Foils equal to captions",
        "Share of wrong texts that have the same words in the same order as the right text.",
        "Remove these pairs: nothing in the text makes the foil false. If each text has its own clip, name the clips.",
    ),
    "duplicates": Words(
        "Duplicate items",
        "Share of items that repeat an earlier item: same video, question and texts.",
        "Remove the repeated items: they count twice, and the intervals become too narrow. If they are about different "
        "videos, name the video of each item.",
    ),
    "contradictions": Words(
        "Foils that are true elsewhere",
        "Share of foils that another item of the same video gives as its true caption.",
        "Check these foils. One of the two items is probably wrong.",
    ),
    "leakage": Words(
        "Leakage across splits",
        "Share of test items whose video is also in another split.",
        "Split by video, so that no video and no caption is in two splits.",
    ),
    "balance": Words(
        "Size of subtests",
        "Share of the items that are in the smallest subtest.",
        "Add items to small subtests, or report them together: fewer than 50 items give wide intervals.",
    ),
    "languages": Words(
        "Script of the texts",
        "Share of right texts in the most frequent script.",
        "Check the texts in other scripts. They may be broken, or need a subtest of their own.",
    ),
    "fields": Words(
        "Readable records",
        "Share of records that could be read.",
        "Fix the records that are listed. Name the video of each item if the file does not: splits and contradictions "
        "are checked by video.",
    ),
    "licences": Words(
        "Licences",
        "Share of items with a licence in the file.",
        "Add a licence to each item, or state the licence of the texts and of the videos next to the file.",
    ),
    "ladder": Words(
        "Evidence ladder",
        "Accuracy of a model that sees less and less of each video.",
        "If accuracy hardly drops, these items do not need the evidence that was removed.",
    ),
}
