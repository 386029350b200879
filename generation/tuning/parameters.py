"""The parameters of a tuning. Pages and actions read them without importing a model library."""

from foilworks.core.text.registry import Entry, Param
from generation.parameters import DEVICE, TAGGER

TUNING = Entry(
    label="Tuning on the train captions",
    summary=(
        "A text-to-text model learns the verb phrases of the project's train captions by span "
        "corruption. Span infilling can then use it."
    ),
    params=(
        Param(
            "model",
            "google-t5/t5-base",
            "text-to-text model with sentinel tokens, such as T5: Hugging Face ID or folder",
        ),
        Param("epochs", 3, "passes over the captions", "int"),
        Param("batch", 16, "captions per step", "int"),
        Param(
            "learning_rate",
            3e-4,
            "the peak learning rate; it rises over the first steps, then decreases linearly",
            "float",
        ),
        Param("density", 0.15, "share of a caption's tokens to mask (T5: .15)", "float"),
        Param("mean_span", 3.0, "mean length of a masked span in tokens (T5: 3)", "float"),
        Param(
            "verb_share",
            0.5,
            "share of examples in which a whole verb phrase is masked instead; 0: as T5 was trained",
            "float",
        ),
        Param("checkpoint_every", 200, "steps between checkpoints; a killed worker loses at most this many", "int"),
        TAGGER,
        DEVICE,
    ),
    deviations=(
        (
            "The contrast sets' paper names the objective but no settings: learning rate, epochs and the "
            "share of whole verb phrases are ours."
        ),
    ),
)
