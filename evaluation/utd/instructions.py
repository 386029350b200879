"""Hold the instructions of the text embedding model (UTD, Tables F.2, F.3 and F.4, verbatim)."""

from evaluation.utd.concepts import ACTIVITIES, DESCRIPTION, OBJECTS, SEQUENCE, VERBS

CLASSIFICATION, RETRIEVAL = "classification", "retrieval"
TASKS = (CLASSIFICATION, RETRIEVAL)
# Number of models that must be right about a sample (UTD, Sec. 3.3.3). Here, so that tables need not import numpy.
MODELS = 9
FRAME = "frame"
# The concept of class names and captions.
TARGET = "target"

_ACTIONS_CLASSIFIED = {
    FRAME: "Given a description of actions visible on the video frame, retrieve the activity depicted in this video.",
    SEQUENCE: (
        "Given a description of actions visible on the video frames, retrieve the activity depicted in this video."
    ),
}
_ACTIONS_RETRIEVED = {
    FRAME: "Given a description of actions visible on the video frame, retrieve a short video description.",
    SEQUENCE: "Given a description of actions visible on the video frames, retrieve a short video description.",
}
# (UTD, Tables F.2 and F.3): task -> concept -> one frame or a sequence of them.
INSTRUCTIONS: dict[str, dict[str, dict[str, str]]] = {
    CLASSIFICATION: {
        DESCRIPTION: {
            FRAME: "Given a video frame description, retrieve the activity depicted in this video.",
            SEQUENCE: "Given descriptions of video frames, retrieve the activity depicted in this video.",
        },
        OBJECTS: {
            FRAME: "Given a list of objects visible on the video frame, retrieve the activity depicted in this video.",
            SEQUENCE: (
                "Given lists of objects visible on the video frames, retrieve the activity depicted in this video."
            ),
        },
        ACTIVITIES: _ACTIONS_CLASSIFIED,
        VERBS: _ACTIONS_CLASSIFIED,
        TARGET: {
            FRAME: "Given an activity, retrieve a video frame description that may depict this activity.",
            SEQUENCE: "Given an activity, retrieve a video description that may depict this activity.",
        },
    },
    RETRIEVAL: {
        DESCRIPTION: {
            FRAME: "Given a description of a single video frame, retrieve a short description of the full video.",
            SEQUENCE: "Given descriptions of video frames, retrieve a short description of the full video.",
        },
        OBJECTS: {
            FRAME: "Given a list of objects visible on the video frame, retrieve a short video description.",
            SEQUENCE: "Given lists of objects visible on the video frames, retrieve a short video description.",
        },
        ACTIVITIES: _ACTIONS_RETRIEVED,
        VERBS: _ACTIONS_RETRIEVED,
        TARGET: {
            FRAME: "Given a short video description, retrieve a description of a specific frame within that video.",
            SEQUENCE: "Given a short video description, retrieve another description of this video.",
        },
    },
}
# (UTD, Table F.4): three ways of asking for the objects of a sequence; for retrieval three for the caption as well.
ROBUST_OBJECTS = {
    CLASSIFICATION: (
        "Given lists of objects visible on the video frames, retrieve the activity depicted in this video.",
        "Using lists of objects seen in video frames, retrieve the activity captured in the video.",
        "From lists of objects present in video frames, retrieve the activity that the video shows.",
    ),
    RETRIEVAL: (
        "Given lists of objects visible on the video frames, retrieve a short video description.",
        "Using lists of objects seen in video frames, retrieve a brief description of the video.",
        "From lists of objects present in video frames, retrieve a concise video description.",
    ),
}
ROBUST_CAPTIONS = (
    "Given a short video description, retrieve another description of this video.",
    "Use a brief video description as a query to retrieve an alternative description of the same video.",
    "Given a concise video description, retrieve another description for that video.",
)


def instructed(instruction: str, text: str) -> str:
    """Return the embedding model's input (UTD, Sec. B.2). The paper prints a space before the first colon; the model's
    card, and so its training, has none.
    """
    return f"Instruct: {instruction}\nQuery: {text}"
