"""The filters: one file in this folder and one row here for each. The menu imports none of them."""

from generation.parameters import DEVICE, TAGGER
from text.plugins import Registry
from text.registry import Entry, Param

SENTENCES = Param("model", "sentence-transformers/all-MiniLM-L6-v2", "a sentence encoder: hub id or folder")
VECTORS = Param(
    "vectors",
    "",
    "path of counter-fitted word vectors, “word number number …” per line; empty: the setting WORD_VECTORS",
)

_FILTERS: dict[str, Entry] = {
    "minimal_edit": Entry(
        label="Minimal edit",
        path="generation.filters.minimal_edit",
        summary="Drops foils that change more than a few words, or an entity.",
        params=(
            Param("max_words", 4, "max changed words; case and punctuation do not count", "int"),
            Param(
                "entities",
                "keep",
                "keep: names in the caption and its listed entities must not change; free: they may change",
                "choice",
                ("keep", "free"),
            ),
        ),
        deviations=(
            (
                "Entities are names (capitals inside a sentence) and the entities in a caption's facts. "
                "The paper's annotators judged by eye."
            ),
        ),
    ),
    "duplicate": Entry(
        label="Duplicate",
        path="generation.filters.duplicate",
        summary="Drops a foil that repeats another foil of its caption, ignoring case, spaces and punctuation.",
    ),
    "template_linter": Entry(
        label="Template linter",
        path="generation.filters.template_linter",
        summary="Drops foils with template errors: agreement, articles, repeated words, punctuation, unchanged states.",
        params=(
            Param(
                "punctuation",
                "same",
                "same: the caption's punctuation marks in the same order; free: they may differ",
                "choice",
                ("same", "free"),
            ),
        ),
        deviations=("No paper uses it: people read their templates.",),
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
        label="Part of speech unchanged",
        path="generation.filters.part_of_speech",
        summary="Drops a foil whose new words have another part of speech.",
        params=(TAGGER,),
        deviations=("A new verb may have other prepositions and particles than the old one (“climb up”, “carry”).",),
    ),
    "number_kept": Entry(
        label="Singular and plural unchanged",
        path="generation.filters.number_kept",
        summary="Drops a foil in which a noun or verb changes between singular and plural.",
        params=(TAGGER,),
    ),
    "frequency": Entry(
        label="Verb frequency",
        path="generation.filters.frequency",
        summary="Drops foils with a verb that is rare in the train captions.",
        params=(Param("more_than", 30, "the new verb's lemma must occur more often than this", "int"), TAGGER),
        deviations=("If a project has no train split, the run's own captions are counted.",),
    ),
    "frequency_clipping": Entry(
        label="Frequency clipping",
        path="generation.filters.frequency_clipping",
        summary="Drops foils whose preposition would occur more often in foils than in captions.",
        params=(
            Param(
                "relations",
                "corrected",
                "which words count as prepositions, as in the method's modes; paper: every listed word, "
                "including “with”",
                "choice",
                ("corrected", "paper"),
            ),
        ),
        deviations=(
            (
                "both modes: foils are counted in order. At any point of the run, foils use a "
                "preposition at most in proportion to the captions so far. The paper removes foils from "
                "the finished list, and does not say which."
            ),
        ),
    ),
    "detector": Entry(
        label="Detector",
        path="generation.filters.detector",
        summary="Drops a foil if the detector sees its new object in the video.",
        params=(
            Param(
                "detector",
                "facebook/detr-resnet-101@no_timm",
                "an object detector: hub id or folder; empty: only the caption's fact “objects” is used",
            ),
            Param("frames", 8, "frames of the video for the detector, at equal distances", "int"),
            Param("min_score", 0.8, "an object counts as seen if its score is above this in any frame", "float"),
            TAGGER,
            DEVICE,
        ),
        deviations=(
            "Synonyms (“cell phone”, “phone”) come from a list of ours. A foil of a video without a file passes.",
        ),
    ),
    "antonym": Entry(
        label="Antonym",
        path="generation.filters.antonym",
        summary="Keeps only foils that replace a word by its opposite.",
        params=(TAGGER,),
        deviations=(
            (
                "Opposites come from WordNet, if it is installed, and from a list of ours. The paper "
                "also names VerbNet, which has no antonyms."
            ),
        ),
    ),
    "word_similarity": Entry(
        label="Word similarity",
        path="generation.filters.word_similarity",
        summary="Drops a foil whose new word has nearly the same meaning as the old one.",
        params=(VECTORS, Param("max", 0.4, "drops foils with this cosine or a higher one", "float"), TAGGER),
        deviations=("A foil passes if one of the words has no vector.",),
    ),
    "sentence_similarity": Entry(
        label="Sentence similarity",
        path="generation.filters.sentence_similarity",
        summary="Drops a foil whose meaning is close to the caption's, by a sentence encoder.",
        params=(SENTENCES, Param("max", 0.8, "drops foils with this cosine or a higher one", "float"), DEVICE),
    ),
    "meaning": Entry(
        label="Antonym, or different in words and meaning",
        path="generation.filters.meaning",
        summary="Keeps a foil with an antonym, or with word cosine below .4 and sentence cosine below .8.",
        params=(
            SENTENCES,
            VECTORS,
            Param("word_max", 0.4, "drops foils with this word cosine or a higher one", "float"),
            Param("sentence_max", 0.8, "drops foils with this sentence cosine or a higher one", "float"),
            TAGGER,
            DEVICE,
        ),
    ),
    "nli": Entry(
        label="Entailment",
        path="generation.filters.nli",
        summary="Drops a foil that its caption entails.",
        params=(
            Param(
                "model",
                "ynie/albert-xxlarge-v2-snli_mnli_fever_anli_R1_R2_R3-nli",
                "a classifier of natural language inference: hub id or folder",
            ),
            Param(
                "max_entailment",
                0.0,
                "0: drops foils whose most likely label is entailment; above 0: if its probability is at least this",
                "float",
            ),
            Param("entailment", -1, "index of the entailment label, if the model does not name its labels", "int"),
            DEVICE,
        ),
    ),
    "grammaticality": Entry(
        label="Grammaticality",
        path="generation.filters.grammaticality",
        summary="Drops foils that are not well-formed, by GRUEN's grammaticality; also stores the raw "
        "CoLA probability.",
        params=(
            Param("min", 0.8, "min score of a foil (ViLMA: .8; spatial relations: .6)", "float"),
            Param("cola", "textattack/bert-base-cased-CoLA", "a classifier trained on CoLA: hub id or folder"),
            Param("lm", "google-bert/bert-base-cased", "a masked language model: hub id or folder"),
            DEVICE,
        ),
        deviations=(
            (
                "Only the grammaticality part of GRUEN: redundancy and focus compare sentences, and a "
                "caption is one sentence. The CoLA model is from the hub. The authors' own model is a "
                "separate download; give it as a folder."
            ),
        ),
    ),
    "perplexity": Entry(
        label="Perplexity",
        path="generation.filters.perplexity",
        summary="Drops a foil that is much less natural than its caption to a language model.",
        params=(
            Param("model", "openai-community/gpt2-xl", "a causal language model: hub id or folder"),
            Param(
                "formula",
                "corrected",
                "corrected: (foil - caption) / caption; paper: the opposite sign, as printed",
                "choice",
                ("corrected", "paper"),
            ),
            Param("max_change", 0.6, "a foil passes if the relative change is below this", "float"),
            Param("wide_change", 1.4, "a foil of low perplexity passes if the relative change is below this", "float"),
            Param("max_perplexity", 750.0, "perplexities below this are low", "float"),
            DEVICE,
        ),
        deviations=(
            (
                "corrected: (foil - caption) / caption. The paper prints (caption - foil) / caption, "
                "which keeps the worse sentences."
            ),
        ),
    ),
    "plausibility_gap": Entry(
        label="Plausibility gap",
        path="generation.filters.plausibility_gap",
        summary="Scores how much likelier the caption is than the foil to a language model, for adversarial "
        "refinement.",
        params=(
            Param("model", "openai-community/gpt2", "a text-only model: hub id or folder"),
            Param("max", 1000.0, "max gap in nats per token; by default every foil passes", "float"),
            DEVICE,
        ),
        deviations=("SugarCrepe uses Vera, a plausibility model; here any language model gives the gap.",),
    ),
    "grammar_gap": Entry(
        label="Grammar gap",
        path="generation.filters.grammar_gap",
        summary="Scores how much more acceptable the caption is than the foil to a CoLA classifier; for adversarial "
        "refinement.",
        params=(
            Param("model", "textattack/distilbert-base-uncased-CoLA", "a classifier trained on CoLA: hub id or folder"),
            Param("max", 1.0, "max gap; by default every foil passes", "float"),
            DEVICE,
        ),
    ),
    "identical": Entry(
        label="Identical to the caption",
        path="generation.filters.identical",
        summary="Drops a foil that is the caption itself, ignoring case, spaces and punctuation.",
    ),
}
FILTERS = Registry("filters", _FILTERS)

# What a run applies by default.
DEFAULT_FILTERS = ("identical", "duplicate", "minimal_edit")
# These methods change names, whole phrases or everything, so their foils are not minimal edits of a few words.
CHANGES_MORE = frozenset({"actor_swap", "identity_swap", "random_caption", "state_change"})


def default_filters(method: str) -> tuple[str, ...]:
    """Return the default filters of a run of the method."""
    return tuple(slug for slug in DEFAULT_FILTERS if slug != "minimal_edit" or method not in CHANGES_MORE)


def needs_weights(entry: Entry) -> str:
    """Return what the filter needs on the machine: "model", "vectors" (of words) or nothing. A filter that runs on a
    device needs a model."""
    return "model" if DEVICE in entry.params else "vectors" if VECTORS in entry.params else ""
