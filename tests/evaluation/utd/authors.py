"""The procedure of UTD's authors, written again from their description with plain loops, to check the product's.

`embed`: a function from texts to float32 rows. A video without any text is a tie of all classes here; their code gives
it to the first class of the list.
"""

import numpy as np
from sklearn.linear_model import LogisticRegression

CONCEPTS = ("objects+composition+activities", "objects", "activities", "verbs")
TIMES = {"middle": "middle", "max": "max", "average": "average", "sequence": "sequence"}
FRAME_TOLD = {
    "objects+composition+activities": "Given a video frame description, retrieve the activity depicted in this video.",
    "objects": "Given a list of objects visible on the video frame, retrieve the activity depicted in this video.",
    "activities": (
        "Given a description of actions visible on the video frame, retrieve the activity depicted in this video."
    ),
}
SEQUENCE_TOLD = {
    "objects+composition+activities": (
        "Given descriptions of video frames, retrieve the activity depicted in this video."
    ),
    "objects": "Given lists of objects visible on the video frames, retrieve the activity depicted in this video.",
    "activities": (
        "Given a description of actions visible on the video frames, retrieve the activity depicted in this video."
    ),
}
FRAME_CLASS = "Given an activity, retrieve a video frame description that may depict this activity."
SEQUENCE_CLASS = "Given an activity, retrieve a video description that may depict this activity."
FRAME_CAPTION = "Given a short video description, retrieve a description of a specific frame within that video."
SEQUENCE_CAPTION = "Given a short video description, retrieve another description of this video."
RETRIEVAL = {
    ("objects+composition+activities", False): (
        "Given a description of a single video frame, retrieve a short description of the full video."
    ),
    ("objects+composition+activities", True): (
        "Given descriptions of video frames, retrieve a short description of the full video."
    ),
    ("objects", False): "Given a list of objects visible on the video frame, retrieve a short video description.",
    ("objects", True): "Given lists of objects visible on the video frames, retrieve a short video description.",
    ("activities", False): (
        "Given a description of actions visible on the video frame, retrieve a short video description."
    ),
    ("activities", True): (
        "Given a description of actions visible on the video frames, retrieve a short video description."
    ),
}


def told(concept, ordered, retrieves):
    concept = "activities" if concept == "verbs" else concept
    if retrieves:
        return RETRIEVAL[concept, ordered]
    return (SEQUENCE_TOLD if ordered else FRAME_TOLD)[concept]


def unit(rows):
    return rows / np.linalg.norm(rows, axis=-1, keepdims=True)


def texts_of(video, concept, time):
    """The texts of one video: none of an empty frame, one with numbered lines for a sequence."""
    name = f"{concept}_15_words" if time == "sequence" and "+" in concept else concept
    frames = [text.strip() for text in video[name]]
    if time == "sequence":
        return ["".join(f"Frame #{number}: {text}\n" for number, text in enumerate(frames, 1)).strip()]
    if time == "middle":
        frames = [frames[int(len(frames) / 2) - 1]]
    return [text for text in frames if text]


def vectors_of(embed, instruction, texts):
    if not texts:
        return np.zeros((0, 1), np.float32)
    return unit(embed([f"Instruct: {instruction}\nQuery: {text}" for text in texts]))


def scores_of(embed, videos, targets, concept, time, retrieves=False):
    """(videos, targets) cosines; None for a video without a text. `targets`: lists of texts, which are averaged."""
    ordered = time == "sequence"
    classes = (
        (SEQUENCE_CAPTION if ordered else FRAME_CAPTION) if retrieves else (SEQUENCE_CLASS if ordered else FRAME_CLASS)
    )
    names = unit(np.stack([vectors_of(embed, classes, texts).mean(axis=0) for texts in targets]))
    found = []
    for video in videos:
        rows = vectors_of(embed, told(concept, ordered, retrieves), texts_of(video, concept, time))
        if not len(rows):
            found.append(None)
        elif time == "max":
            found.append((rows @ names.T).max(axis=0))
        else:
            found.append(unit(rows.mean(axis=0)) @ names.T)
    return found


def common_sense(embed, videos, labels, targets, concept, time):
    """Accuracy by the class of the highest cosine."""
    right = []
    for scores, label in zip(scores_of(embed, videos, targets, concept, time), labels, strict=True):
        right.append(1 / len(targets) if scores is None else float(np.argmax(scores) == label))
    return float(np.mean(right))


def retrieval(embed, videos, captions, concept, time):
    """Recall at 1 of a caption's own video: its mean rank among equal ones is 1, so a tie earns nothing."""
    scores = scores_of(embed, videos, captions, concept, time, retrieves=True)
    table = np.stack([np.full(len(captions), -np.inf) if one is None else one for one in scores], axis=1)
    own = np.arange(len(captions))
    best = table.max(axis=1)
    alone = (table >= best[:, None] - 1e-6).sum(axis=1) == 1
    return float(np.mean((table[own, own] == best) & alone & np.isfinite(best)))


def dataset(embed, train, train_labels, test, labels, concept):
    """Accuracy of a regression on the sequences, as their script fits it."""
    learnt, judged = (
        np.concatenate(
            [vectors_of(embed, told(concept, True, False), texts_of(one, concept, "sequence")) for one in some]
        )
        for some in (train, test)
    )
    model = LogisticRegression(random_state=0).fit(learnt, train_labels)
    return float(np.mean(model.classes_[model.predict_log_proba(judged).argmax(axis=1)] == labels))
