"""Parameters that several methods, filters, caption makers and tunings share."""

from foilworks.core.text.registry import Param

TAGGER = Param(
    "tagger",
    "auto",
    (
        "finds the parts of speech. “auto” or “offline”: built-in rules; “spacy”: the largest installed English spaCy "
        "model; “spacy:MODEL”: this model"
    ),
)
DEVICE = Param("device", "auto", "where the model runs: auto, cpu, cuda or cuda:N")
MASKED_LM = Param(
    "model",
    "FacebookAI/roberta-base",
    ("masked language model: Hugging Face ID or folder; several models, separated by commas, vote on each word"),
)
# Parameters of everything that uses an instruction model, over HTTP or on this machine.
ASKED = (
    Param("endpoint", "", "one of the endpoints that the site operator configured; empty: a model on this server"),
    Param(
        "model",
        "",
        (
            "without an endpoint: an instruction model with a chat template, as Hugging Face ID or folder; "
            "with an endpoint: one of its models, or empty for its default model"
        ),
    ),
)
ASKING_LIMITS = (
    Param("requests", 2000, "budget: max requests to the endpoint, including retries; 0: no limit", "int"),
    Param("tokens", 2_000_000, "budget: max tokens in prompts and answers; 0: no limit", "int"),
    Param("concurrency", 64, "max requests at the same time; fewer if the endpoint allows fewer", "int"),
    Param("tries", 3, "max attempts per request if an error is temporary (429, 5xx, timeout)", "int"),
    Param("timeout", 60, "max seconds to wait for an answer", "int"),
    DEVICE,
)
# DETR-type, 8 uniform frames, score over .8 (ViLMA, Sec. C.5).
DETECTED = (
    Param("frames", 8, "number of video frames that the detector sees, evenly spaced", "int"),
    Param("min_score", 0.8, "an object counts as seen if its detection score is above this in any frame", "float"),
)
DETECTOR_HELP = (
    "object detector: Hugging Face ID or folder; foils never name an object that it sees in the "
    "video; empty: no detector"
)
WORD_KINDS = ("verb", "noun", "object", "subject")

# The models that judge a proficiency foil during generation: entailment and grammaticality.
JUDGES = (
    Param(
        "nli",
        "ynie/albert-xxlarge-v2-snli_mnli_fever_anli_R1_R2_R3-nli",
        "natural language inference model: Hugging Face ID or folder",
    ),
    Param("entailment", -1, "number of the entailment label of “nli”, counted from 0; -1: found by its name", "int"),
    Param(
        "cola",
        "textattack/bert-base-cased-CoLA",
        ("grammar classifier trained on CoLA (sentences judged as grammatical or not): Hugging Face ID or folder"),
    ),
    Param(
        "lm",
        "google-bert/bert-base-cased",
        "masked language model for the grammaticality score: Hugging Face ID or folder",
    ),
)

# Masked language models: which words may fill a blank, and how several models vote.
ALLOWED_WORDS = (
    Param(
        "vocabulary",
        "captions",
        (
            "words allowed in mode corrected. captions: only words that occur in the run's captions, in any form; "
            "model: all whole words that the model knows"
        ),
        "choice",
        ("captions", "model"),
    ),
    Param(
        "min_corpus",
        50,
        "if the captions have fewer different words than this, all words of the model are allowed",
        "int",
    ),
)
VOTES = (
    Param(
        "min_probability",
        0.01,
        "with several models: a model votes for a word whose probability is above this",
        "float",
    ),
    Param("min_votes", 2, "with several models: min votes for a word", "int"),
)
