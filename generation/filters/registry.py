"""The filters. One filter = one file beside this one and one row here; nothing is imported to show the menu."""

from generation.parameters import DEVICE, TAGGER
from text.plugins import Registry
from text.registry import Entry, Param

SENTENCES = Param("model", "sentence-transformers/all-MiniLM-L6-v2", "a sentence encoder: hub id or folder")
VECTORS = Param(
    "vectors", "", "path of counter-fitted word vectors, “word number number …” a line; empty: the setting WORD_VECTORS"
)

_FILTERS: dict[str, Entry] = {
    "minimal_edit": Entry(
        label="Minimal edit",
        path="generation.filters.minimal_edit",
        summary="Drops foils that change more than a few words, or an entity.",
        params=(
            Param("max_words", 4, "words that may change, case and punctuation apart", "int"),
            Param(
                "entities",
                "keep",
                "keep: names in the caption and its listed entities stay; free: they may change",
                "choice",
                ("keep", "free"),
            ),
        ),
        deviations=(
            (
                "Entities are names (capitals inside a sentence) and what a caption's facts list; the paper's "
                "annotators judged by eye."
            ),
        ),
    ),
    "duplicate": Entry(
        label="Duplicate",
        path="generation.filters.duplicate",
        summary="Drops a foil that the caption already has, whatever its case, spaces and punctuation.",
    ),
    "template_linter": Entry(
        label="Template linter",
        path="generation.filters.template_linter",
        summary="Drops foils of templates that went wrong: agreement, articles, doubled words, punctuation, states.",
        params=(
            Param(
                "punctuation",
                "same",
                "same: the caption's marks in their order; free: they may differ",
                "choice",
                ("same", "free"),
            ),
        ),
        deviations=("No paper has it: their templates were read by people.",),
    ),
    "other_captions": Entry(
        label="Other captions of the video",
        path="generation.filters.other_captions",
        summary="Drops a foil that another caption of the same video states.",
    ),
    "has_verb": Entry(
        label="Has a verb",
        path="generation.filters.has_verb",
        summary="Drops a foil without a verb.",
        params=(TAGGER,),
    ),
    "part_of_speech": Entry(
        label="Part of speech kept",
        path="generation.filters.part_of_speech",
        summary="Drops a foil whose new words are of another part of speech.",
        params=(TAGGER,),
    ),
    "number_kept": Entry(
        label="Singular and plural kept",
        path="generation.filters.number_kept",
        summary="Drops a foil in which a noun or verb changes its number.",
        params=(TAGGER,),
    ),
    "frequency": Entry(
        label="Verb frequency",
        path="generation.filters.frequency",
        summary="Drops foils with a verb that the train captions hardly use.",
        params=(Param("more_than", 30, "the new verb's lemma stands more often than this", "int"), TAGGER),
        deviations=("Where a project has no train split, the run's own captions are counted.",),
    ),
    "frequency_clipping": Entry(
        label="Frequency clipping",
        path="generation.filters.frequency_clipping",
        summary="Drops foils whose preposition foils would use more often than the captions do.",
        params=(
            Param(
                "relations",
                "corrected",
                "what counts as a preposition, as in the method's modes; paper: every listed word, “with” among them",
                "choice",
                ("corrected", "paper"),
            ),
        ),
        deviations=(
            (
                "both modes: foils are counted as they come, and at no point of the run may a preposition stand in "
                "more of them than its share of the captions up to there; the paper removes from the finished list, "
                "and does not say which."
            ),
        ),
    ),
    "detector": Entry(
        label="Detector",
        path="generation.filters.detector",
        summary="Drops a foil whose new thing is seen in the video.",
        params=(
            Param(
                "detector",
                "facebook/detr-resnet-101@no_timm",
                "an object detector: hub id or folder; empty: only what the captions' fact “objects” lists",
            ),
            Param("frames", 8, "frames of the video that the detector looks at, uniform in time", "int"),
            Param("min_score", 0.8, "a thing counts as seen above this score in any frame", "float"),
            TAGGER,
            DEVICE,
        ),
        deviations=(
            "Words that name the same (“cell phone”, “phone”) are a list of ours; a video without a file passes.",
        ),
    ),
    "antonym": Entry(
        label="Antonym",
        path="generation.filters.antonym",
        summary="Keeps only foils that put a word's opposite in its place.",
        params=(TAGGER,),
        deviations=(
            (
                "Opposites come from WordNet where it is installed and from an own list; the paper also names VerbNet, "
                "which has no antonyms."
            ),
        ),
    ),
    "word_similarity": Entry(
        label="Word similarity",
        path="generation.filters.word_similarity",
        summary="Drops a foil whose new word means much the same as the old one.",
        params=(VECTORS, Param("max", 0.4, "cosine from which on a foil is dropped", "float"), TAGGER),
        deviations=("A pair with a word that has no vector passes.",),
    ),
    "sentence_similarity": Entry(
        label="Sentence similarity",
        path="generation.filters.sentence_similarity",
        summary="Drops a foil that a sentence encoder takes for nearly the same.",
        params=(SENTENCES, Param("max", 0.8, "cosine from which on a foil is dropped", "float"), DEVICE),
    ),
    "meaning": Entry(
        label="Antonym, or unlike in words and as sentences",
        path="generation.filters.meaning",
        summary="The contrast sets' rule: an antonym, or word cosine under .4 and sentence cosine under .8.",
        params=(
            SENTENCES,
            VECTORS,
            Param("word_max", 0.4, "cosine of words from which on a foil is dropped", "float"),
            Param("sentence_max", 0.8, "cosine of sentences from which on a foil is dropped", "float"),
            TAGGER,
            DEVICE,
        ),
    ),
    "nli": Entry(
        label="Entailment",
        path="generation.filters.nli",
        summary="Drops a foil that follows from its caption.",
        params=(
            Param(
                "model",
                "ynie/albert-xxlarge-v2-snli_mnli_fever_anli_R1_R2_R3-nli",
                "a classifier of natural language inference: hub id or folder",
            ),
            Param("max_entailment", 0.0, "0: dropped where it is the likeliest label; else from this on", "float"),
            Param("entailment", -1, "the number of the label, where the model does not name it", "int"),
            DEVICE,
        ),
    ),
    "grammaticality": Entry(
        label="Grammaticality",
        path="generation.filters.grammaticality",
        summary="Drops what is not well-formed, by GRUEN's grammaticality; the raw CoLA probability is kept.",
        params=(
            Param("min", 0.8, "score that a foil needs (ViLMA: .8; spatial relations: .6)", "float"),
            Param("cola", "textattack/bert-base-cased-CoLA", "a classifier trained on CoLA: hub id or folder"),
            Param("lm", "google-bert/bert-base-cased", "a masked language model: hub id or folder"),
            DEVICE,
        ),
        deviations=(
            (
                "Only GRUEN's grammaticality: redundancy and focus compare sentences, and a caption is one. The CoLA "
                "model is one from the hub; the authors' own is a download of theirs and can be given as a folder."
            ),
        ),
    ),
    "perplexity": Entry(
        label="Perplexity",
        path="generation.filters.perplexity",
        summary="Drops a foil that a language model finds much odder than its caption.",
        params=(
            Param("model", "openai-community/gpt2-xl", "a causal language model: hub id or folder"),
            Param("formula", "corrected", "paper: the sign as printed", "choice", ("corrected", "paper")),
            Param("max_change", 0.6, "relative change under which a foil passes", "float"),
            Param("wide_change", 1.4, "… and under which it passes with a low perplexity of its own", "float"),
            Param("max_perplexity", 750.0, "that low perplexity", "float"),
            DEVICE,
        ),
        deviations=(
            (
                "corrected: (foil - caption) / caption; the paper prints (caption - foil) / caption, which keeps the "
                "worse sentences."
            ),
        ),
    ),
    "plausibility_gap": Entry(
        label="Gap of plausibility",
        path="generation.filters.plausibility_gap",
        summary="Scores how much likelier a language model finds the caption; for adversarial refinement.",
        params=(
            Param("model", "openai-community/gpt2", "a model of text alone: hub id or folder"),
            Param("max", 1000.0, "gap in nats a token up to which a foil passes; as it is, all do", "float"),
            DEVICE,
        ),
        deviations=("SugarCrepe asks Vera, a plausibility model; here any language model gives the gap.",),
    ),
    "grammar_gap": Entry(
        label="Gap of grammar",
        path="generation.filters.grammar_gap",
        summary="Scores how much more acceptable a CoLA classifier finds the caption; for adversarial refinement.",
        params=(
            Param("model", "textattack/distilbert-base-uncased-CoLA", "a classifier trained on CoLA: hub id or folder"),
            Param("max", 1.0, "gap up to which a foil passes; as it is, all do", "float"),
            DEVICE,
        ),
    ),
    "identical": Entry(
        label="Identical to the caption",
        path="generation.filters.identical",
        summary="Drops a foil that says the same as the caption, whatever its case, spaces and punctuation.",
    ),
}
FILTERS = Registry("filters", _FILTERS)

# What a run applies where nothing else is asked for.
DEFAULT_FILTERS = ("identical", "duplicate", "minimal_edit")
# They change names, places of whole phrases or everything: no minimal edits of few words.
CHANGES_MORE = frozenset({"actor_swap", "identity_swap", "random_caption", "state_change"})


def default_filters(method: str) -> tuple[str, ...]:
    """The filters of a run of the method where nothing else is asked for."""
    return tuple(slug for slug in DEFAULT_FILTERS if slug != "minimal_edit" or method not in CHANGES_MORE)


def needs_weights(entry: Entry) -> str:
    """What the filter needs on the machine, or downloaded: "model", "vectors" of words, or nothing. What runs on a
    device is a model."""
    return "model" if DEVICE in entry.params else "vectors" if VECTORS in entry.params else ""
