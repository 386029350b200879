"""What is minimised (Feint6K, section 4.2). Similarities are cosines, temperatures above 0; every loss is a mean over
the batch and is computed in float32 whatever the model runs in.
"""

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F

from evaluation.errors import EvaluationError

CONTRASTIVE, LABELS, LOGITS = "contrastive", "lbl", "lgt"
OBJECTIVES = (CONTRASTIVE, LABELS, LOGITS)
# Of KL(teacher || student) the gradient pulls towards everything that the teacher finds close; the paper's text leaves
# the direction open, so the other one can be chosen.
FORWARD, REVERSE = "teacher||student", "student||teacher"
DIRECTIONS = (FORWARD, REVERSE)


@dataclass(frozen=True)
class Objective:
    """Shares of the three losses, the temperature of each softmax, the direction of Eq. 2's divergence.

    The paper has one temperature for student and teacher, with no value: it must be given, and is recorded.
    """

    temperature: float
    contrastive: float = 0.0
    lbl: float = 0.0
    lgt: float = 0.0
    direction: str = FORWARD

    def __post_init__(self) -> None:
        shares = (self.contrastive, self.lbl, self.lgt)
        if not 0 < self.temperature < float("inf"):
            raise EvaluationError(f"temperature: is {self.temperature}; give a number above 0, such as 0.05")
        if min(shares) < 0 or sum(shares) <= 0:
            raise EvaluationError("objective: its shares must be 0 or more, and one of them above 0")
        if self.direction not in DIRECTIONS:
            raise EvaluationError(f"direction: is '{self.direction}'; choose one of: {', '.join(DIRECTIONS)}")

    @property
    def needs_negatives(self) -> bool:
        return self.lbl > 0 or self.lgt > 0


def contrastive(videos: Tensor, captions: Tensor, same: Tensor, temperature: float) -> Tensor:
    """The plain loss, clip to caption and caption to clip, over the batch.

    `videos` (b, d) and `captions` (m, d) of the batch's distinct captions, both of length 1; `same` (b,) which caption
    is each video's own. Videos that share a caption are its right answers in equal parts.
    """
    logits = (videos.float() @ captions.float().T) / temperature
    by_video = F.cross_entropy(logits, same)
    right = F.one_hot(same, len(captions)).T.float()
    asked = right.sum(dim=1) > 0
    targets = right[asked] / right[asked].sum(dim=1, keepdim=True)
    by_text = -(targets * logits.T[asked].log_softmax(dim=1)).sum(dim=1).mean()
    return (by_video + by_text) / 2


def labels(student: Tensor, there: Tensor, temperature: float) -> Tensor:
    """Eq. 1: `student` (b, 1 + k) sim(f_v, f_t), the positive first; `there` (b, 1 + k) False where a video has fewer
    than k negatives. `- log softmax` of the positive."""
    return -_log_softmax(student, there, temperature)[:, 0].mean()


def logits(student: Tensor, teacher: Tensor, there: Tensor, temperature: float, direction: str = FORWARD) -> Tensor:
    """Eq. 2: the divergence between the student's softmax and the teacher's, `teacher` (b, 1 + k) sim(e_p, e_t) with
    the positive first (so 1), over the positive and its own negatives only, at one temperature."""
    ours, theirs = (_log_softmax(each, there, temperature) for each in (student, teacher))
    left, right = (theirs, ours) if direction == FORWARD else (ours, theirs)
    # Where nothing is, both logs are -inf: their difference is nan, and its gradient too, so they are set before.
    gap = torch.where(there, left, 0.0) - torch.where(there, right, 0.0)
    return (torch.where(there, left.exp(), 0.0) * gap).sum(dim=1).mean()


def _log_softmax(similarities: Tensor, there: Tensor, temperature: float) -> Tensor:
    scaled = (similarities.float() / temperature).masked_fill(~there, float("-inf"))
    return scaled.log_softmax(dim=1)
