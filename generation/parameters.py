"""Parameters that several methods, filters, caption makers and tunings share."""

from text.registry import Param

TAGGER = Param(
    "tagger", "auto", "auto: the offline rules; or offline, spacy (the largest installed English model), spacy:MODEL"
)
DEVICE = Param("device", "auto", "auto, cpu, cuda or cuda:N")
MASKED_LM = Param(
    "model", "FacebookAI/roberta-base", "a masked language model: hub id or folder; several, separated by commas, vote"
)
# Parameters of everything that uses an instruction model, over HTTP or on this machine.
ASKED = (
    Param("endpoint", "", "one of the endpoints that the operator has configured; empty: a local model"),
    Param(
        "model",
        "",
        "local: an instruction model with a chat template, hub id or folder; endpoint: one of its "
        "models, or empty for its default",
    ),
)
ASKING_LIMITS = (
    Param("requests", 2000, "budget: max requests to the endpoint, including retries; 0: no limit", "int"),
    Param("tokens", 2_000_000, "budget: max tokens of prompts and answers; 0: no limit", "int"),
    Param("concurrency", 64, "max requests in flight; fewer if the endpoint allows fewer", "int"),
    Param("tries", 3, "max attempts per request that fails temporarily (429, 5xx, timeout)", "int"),
    Param("timeout", 60, "max seconds to wait for an answer", "int"),
    DEVICE,
)
# DETR-type, 8 uniform frames, score over .8 (ViLMA, Sec. C.5).
DETECTED = (
    Param("frames", 8, "frames of the video for the detector, at equal distances", "int"),
    Param("min_score", 0.8, "a thing counts as seen if its score is above this in any frame", "float"),
)
DETECTOR_HELP = (
    "an object detector: hub id or folder; things that it sees in the video are never inserted; empty: no detector"
)
WORD_KINDS = ("verb", "noun", "object", "subject")

# The models that judge a proficiency foil during generation: entailment and grammaticality.
JUDGES = (
    Param(
        "nli",
        "ynie/albert-xxlarge-v2-snli_mnli_fever_anli_R1_R2_R3-nli",
        "a classifier of natural language inference: hub id or folder",
    ),
    Param("entailment", -1, "the number of its label, if the model does not name it", "int"),
    Param("cola", "textattack/bert-base-cased-CoLA", "a classifier trained on CoLA: hub id or folder"),
    Param("lm", "google-bert/bert-base-cased", "the masked language model of grammaticality: hub id or folder"),
)
