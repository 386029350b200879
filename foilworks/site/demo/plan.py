"""Define the sample project: its names, sizes and subtests, shared by its parts."""

from dataclasses import dataclass
from pathlib import Path

from foilworks.core.projects.model_folders import models_of
from foilworks.core.projects.models import Project
from foilworks.site.demo.captions import NEXT_SHAPE, OPPOSITES
from generation.models import GenerationRun

SLUG = "demo"
NAME = "Shapes in motion"
DESCRIPTION = (
    "A sample project with synthetic videos of coloured shapes. The people are simulated and make mistakes at set "
    "rates. The two models were trained on this computer."
)
# Prefix of a caption's key: its subject. Runs select their captions by it.
DIRECTION, OBJECT, COUNTING = "direction-", "object-", "counting-"
DIRECTION_SUBTEST, OBJECT_SUBTEST = "direction", "direction / object"
COUNTING_SUBTEST, FREE_SUBTEST = "counting", "other actions"
BIAS_RUN = "What descriptions give away"
ARCHITECTURES = ("average", "temporal")


@dataclass(frozen=True)
class Sizes:
    """How much to create.

    `pairs`: evaluation clips with their reversals; the others are clips. Of the `counting` captions, people leave work
    in every stage for the visitor; `free` direction captions wait for foils that a person writes. Frames of the first
    `described` videos of each split are described.
    """

    training: int = 301
    pairs: int = 84
    counting: int = 24
    free: int = 4
    described: int = 112


FULL = Sizes()


def direction_pairs() -> str:
    """Return `pairs=` of the preposition method: each opposite once, since it uses both directions."""
    once = [phrase for phrase in OPPOSITES if list(OPPOSITES).index(phrase) % 2 == 0]
    return ",".join(f"{phrase}:{OPPOSITES[phrase]}" for phrase in once)


def object_lexicon() -> str:
    """Return `lexicon=` of the fake method: every shape becomes the next one."""
    return ",".join(f"{shape}:{next_shape}" for shape, next_shape in NEXT_SHAPE.items())


def seed_of(project: Project) -> int:
    """Return the seed of a sample project: that of its first generation run."""
    return GenerationRun.objects.filter(project=project).order_by("pk").values_list("seed", flat=True)[0]


def model_folder(project: Project, architecture: str) -> Path:
    """Return the folder of a model of this sample project."""
    return models_of(project.pk) / architecture
