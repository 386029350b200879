"""What a person asks of a training of LLM-teacher: parameters, sources of negatives, and a release to evaluate on."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from foilworks.core.corpus.models import Release
from foilworks.site.teacher.mixtures import Mixture


@dataclass(frozen=True)
class TrainingRequest:
    """`action_runs`, `object_runs`: ids of generation runs. `split`, `videos`: learn only from these.

    `mixture`: the sources of the negatives, instead of runs.
    """

    params: Mapping[str, Any]
    action_runs: Sequence[int] = ()
    object_runs: Sequence[int] = ()
    release: Release | None = None
    label: str = ""
    seed: int = 0
    split: str = ""
    videos: Sequence[str] = ()
    mixture: Mixture | None = None
