"""What a tuning takes; pages and actions read it and import nothing."""

from generation.parameters import DEVICE, TAGGER
from text.registry import Entry, Param

TUNING = Entry(
    label="Tuning on the train captions",
    path="generation.tuning.job",
    summary=(
        "A text-to-text model learns the verb phrases of the project's train captions by span corruption; span "
        "infilling then takes it as its model."
    ),
    params=(
        Param("model", "google-t5/t5-base", "a text-to-text model with sentinels: hub id or folder"),
        Param("epochs", 3, "times that each caption is seen", "int"),
        Param("batch", 16, "captions a step", "int"),
        Param("learning_rate", 3e-4, "the highest; up over the first steps, then down in a straight line", "float"),
        Param("density", 0.15, "share of a caption's tokens that is taken out (T5: .15)", "float"),
        Param("mean_span", 3.0, "tokens in a row that are taken out (T5: 3)", "float"),
        Param(
            "verb_share",
            0.5,
            "share of the examples that lose a whole verb phrase instead; 0: as T5 was trained",
            "float",
        ),
        Param("checkpoint_every", 200, "steps between checkpoints; a killed worker loses at most so many", "int"),
        TAGGER,
        DEVICE,
    ),
    deviations=(
        (
            "The contrast sets' paper names the objective and prints no setting: rate, epochs and the share of whole "
            "verb phrases are ours."
        ),
    ),
)
