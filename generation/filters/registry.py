"""The filters: one file in this folder and one row here for each. The menu imports none of them."""

from foilworks.core.text.plugin_contracts import Call, Contract
from foilworks.core.text.plugins import Registry
from foilworks.core.text.registry import Entry, Param
from generation.parameters import DEVICE, TAGGER
from generation.records import Verdict

SENTENCES = Param("model", "sentence-transformers/all-MiniLM-L6-v2", "sentence encoder: Hugging Face ID or folder")
VECTORS = Param(
    "vectors",
    "",
    (
        "path of a file with counter-fitted word vectors, each line a word and its numbers; empty: the "
        "file in the setting WORD_VECTORS"
    ),
)

# The filter that judges the foils of a whole run together.
DRAW = "draw"

_FILTERS: dict[str, Entry] = {
    "minimal_edit": Entry(
        label="Minimal edit",
        path="generation.filters.minimal_edit",
        summary="Drops foils that change too many words, or a name.",
        params=(
            Param("max_words", 4, "max changed words; changes of case and punctuation do not count", "int"),
            Param(
                "entities",
                "keep",
                (
                    "keep: drops foils that change a name, or one of the entities listed with the caption; free: "
                    "allows such changes"
                ),
                "choice",
                ("keep", "free"),
            ),
        ),
        deviations=(
            (
                "Names are words with a capital letter inside a sentence. In the paper, annotators decided what a"
                " name is."
            ),
        ),
    ),
    "duplicate": Entry(
        label="Duplicate",
        path="generation.filters.duplicate",
        summary=(
            "Drops foils that repeat another foil of the same caption. Case, spaces and punctuation do not count."
        ),
    ),
    "template_linter": Entry(
        label="Template linter",
        path="generation.filters.template_linter",
        summary=(
            "Drops foils with errors that templates cause: wrong verb forms or articles, repeated words, "
            "different punctuation, or a change to the same state (“from open to open”)."
        ),
        params=(
            Param(
                "punctuation",
                "same",
                (
                    "same: the foil needs the same punctuation marks as the caption, in the same order; free: they "
                    "may differ"
                ),
                "choice",
                ("same", "free"),
            ),
        ),
        deviations=("No paper uses this filter: the authors checked their templates themselves.",),
    ),
    "asserted": Entry(
        label="Asserted",
        path="generation.filters.asserted",
        summary=(
            "Drops foils that change words which the caption denies, asks, wishes or supposes: caption and foil may "
            "both be true (“does not open”)."
        ),
        deviations=("No paper uses this filter. It reads English.",),
    ),
    "contradiction": Entry(
        label="Contradiction",
        path="generation.filters.contradiction",
        summary=(
            "Drops foils that contradict the rest of the caption (“puts down a glass and drinks from it”), say the "
            "same, or have an error of grammar."
        ),
        deviations=("No paper uses this filter. It reads English.",),
    ),
    "other_captions": Entry(
        label="Other captions of the video",
        path="generation.filters.other_captions",
        summary="Drops foils with the same text as another caption of the same video.",
    ),
    "has_verb": Entry(
        label="Has a verb",
        path="generation.filters.has_verb",
        summary="Drops foils without a verb.",
        params=(TAGGER,),
    ),
    "part_of_speech": Entry(
        label="Part of speech unchanged",
        path="generation.filters.part_of_speech",
        summary=("Drops foils whose new word has another part of speech than the old one, such as a noun for a verb."),
        params=(TAGGER,),
        deviations=("A new verb may have other prepositions and particles than the old one (“climb up”, “carry”).",),
    ),
    "number_kept": Entry(
        label="Singular and plural unchanged",
        path="generation.filters.number_kept",
        summary="Drops foils in which a noun or verb changes between singular and plural.",
        params=(TAGGER,),
    ),
    "frequency": Entry(
        label="Verb frequency",
        path="generation.filters.frequency",
        summary="Drops foils with a verb that is rare in the train captions.",
        params=(Param("more_than", 30, "the new verb, in any form, must occur more often than this", "int"), TAGGER),
        deviations=("If a project has no train split, the filter counts verbs in the captions of the run.",),
    ),
    "frequency_clipping": Entry(
        label="Frequency clipping",
        path="generation.filters.frequency_clipping",
        summary="Drops a foil if its new preposition would become more frequent in foils than it is in captions.",
        params=(
            Param(
                "relations",
                "corrected",
                (
                    "words that count as prepositions. corrected: the words that the method “Preposition replacement” "
                    "changes in “corrected” mode; paper: all prepositions of a built-in list, including “with”"
                ),
                "choice",
                ("corrected", "paper"),
            ),
        ),
        deviations=(
            (
                "both modes: foils are checked one by one. At each step, a preposition may be at most as frequent"
                " in the foils as in the captions so far. The paper removes foils at the end and does not say "
                "which."
            ),
        ),
    ),
    DRAW: Entry(
        label="Balanced draw",
        path="generation.filters.draw",
        summary=(
            "Draws foils by a fair coin, so that texts do not say which of two opposites is true. Captions whose words "
            "no other caption inserts are left out."
        ),
        params=(
            Param(
                "context",
                "solver",
                (
                    "solver: captions take part if the solver of the audit finds their words equally likely in another "
                    "caption with the opposite; none: only the replaced words are balanced, and more foils stay"
                ),
                "choice",
                ("solver", "none"),
            ),
        ),
        deviations=("No paper draws so. In mode paper it is off by default.",),
    ),
    "detector": Entry(
        label="Detector",
        path="generation.filters.detector",
        summary="Drops foils whose new object is visible in the video, according to an object detector.",
        params=(
            Param(
                "detector",
                "facebook/detr-resnet-101@no_timm",
                (
                    "object detector: Hugging Face ID or folder; empty: only the objects listed with the caption are "
                    "used"
                ),
            ),
            Param("frames", 8, "number of video frames that the detector sees, evenly spaced", "int"),
            Param(
                "min_score", 0.8, "an object counts as seen if its detection score is above this in any frame", "float"
            ),
            TAGGER,
            DEVICE,
        ),
        deviations=(
            "Synonyms (“cell phone”, “phone”) come from our own list. If the video has no file, the foil passes.",
        ),
    ),
    "antonym": Entry(
        label="Antonym",
        path="generation.filters.antonym",
        summary="Keeps only foils that replace a word with its opposite.",
        params=(TAGGER,),
        deviations=(
            (
                "Opposites come from WordNet, if it is installed, and from our own list. The paper also names "
                "VerbNet, which has no opposites."
            ),
        ),
    ),
    "word_similarity": Entry(
        label="Word similarity",
        path="generation.filters.word_similarity",
        summary="Drops foils whose new word means nearly the same as the old word.",
        params=(
            VECTORS,
            Param(
                "max", 0.4, "drops foils whose new word has at least this cosine similarity with the old word", "float"
            ),
            TAGGER,
        ),
        deviations=("A foil passes if one of the words has no vector.",),
    ),
    "sentence_similarity": Entry(
        label="Sentence similarity",
        path="generation.filters.sentence_similarity",
        summary="Drops foils that mean nearly the same as the caption, according to a sentence encoder.",
        params=(
            SENTENCES,
            Param("max", 0.8, "drops foils whose cosine similarity with the caption is at least this", "float"),
            DEVICE,
        ),
    ),
    "meaning": Entry(
        label="Antonym, or different in words and meaning",
        path="generation.filters.meaning",
        summary=(
            "Keeps foils that replace a word with its opposite. Also keeps foils whose changed words and whole "
            "sentence both differ enough in meaning from the caption."
        ),
        params=(
            SENTENCES,
            VECTORS,
            Param(
                "word_max",
                0.4,
                "foils that contain no opposite are dropped if the cosine similarity of the words is at least this",
                "float",
            ),
            Param(
                "sentence_max",
                0.8,
                "foils that contain no opposite are dropped if the cosine similarity of the sentences is at least this",
                "float",
            ),
            TAGGER,
            DEVICE,
        ),
    ),
    "nli": Entry(
        label="Entailment",
        path="generation.filters.nli",
        summary="Drops foils that follow from their caption: if the caption is true, the foil is true as well.",
        params=(
            Param(
                "model",
                "ynie/albert-xxlarge-v2-snli_mnli_fever_anli_R1_R2_R3-nli",
                "natural language inference model: Hugging Face ID or folder",
            ),
            Param(
                "max_entailment",
                0.0,
                (
                    "0: drops foils for which entailment is the most likely label; above 0: drops foils whose "
                    "probability of entailment is at least this"
                ),
                "float",
            ),
            Param("entailment", -1, "number of the entailment label, counted from 0; -1: found by its name", "int"),
            DEVICE,
        ),
    ),
    "grammaticality": Entry(
        label="Grammaticality",
        path="generation.filters.grammaticality",
        summary=(
            "Drops foils with poor grammar, by the grammaticality score of GRUEN. The run also stores the "
            "CoLA probability."
        ),
        params=(
            Param("min", 0.8, "min grammaticality score of a foil (ViLMA: 0.8; for spatial relations 0.6)", "float"),
            Param(
                "cola",
                "textattack/bert-base-cased-CoLA",
                (
                    "grammar classifier trained on CoLA (sentences judged as grammatical or not): Hugging Face ID or "
                    "folder"
                ),
            ),
            Param("lm", "google-bert/bert-base-cased", "masked language model: Hugging Face ID or folder"),
            DEVICE,
        ),
        deviations=(
            (
                "Only the grammaticality part of GRUEN is used. Its other parts, redundancy and focus, compare "
                "sentences, and a caption is one sentence. The CoLA model is from Hugging Face. To use the "
                "authors' model, download it and enter its folder."
            ),
        ),
    ),
    "perplexity": Entry(
        label="Perplexity",
        path="generation.filters.perplexity",
        summary="Drops foils that a language model finds much less natural than the caption.",
        params=(
            Param("model", "openai-community/gpt2-xl", "causal language model: Hugging Face ID or folder"),
            Param(
                "formula",
                "corrected",
                (
                    "relative change in perplexity. corrected: (foil - caption) / caption; paper: (caption - foil) / "
                    "caption, as printed"
                ),
                "choice",
                ("corrected", "paper"),
            ),
            Param("max_change", 0.6, "a foil passes if the relative change in perplexity is below this", "float"),
            Param("wide_change", 1.4, "limit used instead of “Max change” if the foil's perplexity is low", "float"),
            Param("max_perplexity", 750.0, "perplexity below this counts as low", "float"),
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
        summary=(
            "Measures how much more likely the caption is than the foil, according to a language model. "
            "The selection method “Adversarial refinement” uses this score."
        ),
        params=(
            Param("model", "openai-community/gpt2", "text-only model: Hugging Face ID or folder"),
            Param(
                "max",
                1000.0,
                "drops foils with a larger gap, in nats per token; with the default, every foil passes",
                "float",
            ),
            DEVICE,
        ),
        deviations=("SugarCrepe uses the plausibility model Vera; this filter works with any language model.",),
    ),
    "grammar_gap": Entry(
        label="Grammar gap",
        path="generation.filters.grammar_gap",
        summary=(
            "Measures how much more grammatical the caption is than the foil, according to a CoLA classifier."
            " The selection method “Adversarial refinement” uses this score."
        ),
        params=(
            Param(
                "model",
                "textattack/distilbert-base-uncased-CoLA",
                (
                    "grammar classifier trained on CoLA (sentences judged as grammatical or not): Hugging Face ID or "
                    "folder"
                ),
            ),
            Param("max", 1.0, "drops foils with a larger gap; with the default, every foil passes", "float"),
            DEVICE,
        ),
    ),
    "video_judge": Entry(
        label="Video model",
        path="generation.filters.video_judge",
        summary=(
            "Drops foils if a video model doubts that the caption is true and the foil is false. The higher the "
            "score, the surer is the model. A random share of the rejected foils still goes to people, so that the "
            "errors of the model are known."
        ),
        params=(
            Param(
                "model",
                "clip:openai/clip-vit-base-patch32",
                "model that sees the clip, as for a scoring run: KIND:NAME, such as "
                "xclip:microsoft/xclip-base-patch32, or endpoint:NAME/MODEL",
            ),
            Param(
                "min",
                0.0,
                (
                    "a foil passes if its score is at least this. 0: the model must prefer the caption; you can change "
                    "it after the run. Models that answer yes or no: the smaller of P(caption is true) and P(foil is "
                    "false), minus 0.5; other models: score of the caption minus score of the foil"
                ),
                "float",
            ),
            Param(
                "share",
                0.1,
                "share of the rejected foils that still goes to people, drawn by the seed. 0.1: one in ten. 0: the "
                "errors of the model stay unknown",
                "float",
            ),
            Param("frames", 8, "endpoint: number of video frames that it sees, evenly spaced", "int"),
            Param("requests", 2000, "endpoint: max requests of the run, including retries; 0: no limit", "int"),
            DEVICE,
        ),
        deviations=("No paper uses this filter. If the video has no file, or an endpoint gives no answer, it passes.",),
    ),
    "identical": Entry(
        label="Identical to the caption",
        path="generation.filters.identical",
        summary="Drops foils that are the same as the caption. Case, spaces and punctuation do not count.",
    ),
}
_CALLS = {
    "judge": Call(("caption", "foil"), ("others", "params"), returns=(Verdict,), is_required=False),
    "judge_many": Call(("cases",), ("params",), yields=(Verdict,), is_required=False),
    "measure_many": Call(("cases",), ("params",), is_required=False),
}
_CONTRACT = Contract(_CALLS, defaults={"VERSION": "1", "COSTLY": False})
FILTERS = Registry("filters", _FILTERS, _CONTRACT)
# The filter whose model watches the clip, and some of whose rejected foils go to people.
SCREENING = "video_judge"

# What the pipeline also asks of every draft of a method that replaces words: `why(text, edits)`.
GUARDS = ("asserted", "contradiction")


def needs_weights(entry: Entry) -> str:
    """Return what the filter needs on the machine: "model", "vectors" (of words) or nothing. A filter that runs on a
    device needs a model."""
    return "model" if DEVICE in entry.params else "vectors" if VECTORS in entry.params else ""
