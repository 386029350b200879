"""Parameters that several rows of the tables share: methods, caption makers, tunings."""

from text.registry import Param

TAGGER = Param(
    "tagger", "auto", "auto: spaCy where an English model is installed, else offline; or offline, spacy, spacy:MODEL"
)
DEVICE = Param("device", "auto", "auto, cpu, cuda or cuda:N")
MASKED_LM = Param(
    "model", "FacebookAI/roberta-base", "a masked language model: hub id or folder; several with commas vote"
)
# Of everything that asks an instruction model, over HTTP or on this machine.
ASKED = (
    Param("endpoint", "", "one of the endpoints that the operator has configured; empty: a local model"),
    Param(
        "model",
        "",
        "local: an instruction model with a chat template, hub id or folder; endpoint: one of its models, empty: its "
        "usual one",
    ),
)
ASKING_LIMITS = (
    Param("requests", 2000, "budget: requests to the endpoint at most, tries included; 0: no limit", "int"),
    Param("tokens", 2_000_000, "budget: tokens asked and answered at most; 0: no limit", "int"),
    Param("concurrency", 64, "the most requests in flight; fewer where the endpoint takes fewer", "int"),
    Param("tries", 3, "how often a request is tried that fails in a way that can pass (429, 5xx, timeout)", "int"),
    Param("timeout", 60, "seconds that an answer may take", "int"),
    DEVICE,
)
# DETR-type, 8 uniform frames, score over .8 (ViLMA, Sec. C.5).
DETECTED = (
    Param("frames", 8, "frames of the video that the detector looks at, uniform in time", "int"),
    Param("min_score", 0.8, "a thing counts as seen above this score in any frame", "float"),
)
DETECTOR_HELP = "an object detector: hub id or folder; what it sees in the video is never put in; empty: none looks"
WORD_KINDS = ("verb", "noun", "object", "subject")

# What judges a proficiency foil while it is made: entailment and grammaticality.
JUDGES = (
    Param(
        "nli",
        "ynie/albert-xxlarge-v2-snli_mnli_fever_anli_R1_R2_R3-nli",
        "a classifier of natural language inference: hub id or folder",
    ),
    Param("entailment", -1, "the number of its label, where the model does not name it", "int"),
    Param("cola", "textattack/bert-base-cased-CoLA", "a classifier trained on CoLA: hub id or folder"),
    Param("lm", "google-bert/bert-base-cased", "the masked language model of grammaticality: hub id or folder"),
)
