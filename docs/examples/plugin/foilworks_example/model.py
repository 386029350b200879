"""Score a text by its length alone: a baseline that sees no clip."""

from collections.abc import Sequence

from foilworks.plugins import Frames, ModelInfo, ReadsWholeTexts, Score, ScoreKind, VideoMeta, words


class Length(ReadsWholeTexts):
    """A model that prefers short texts."""

    def __init__(self) -> None:
        self.info = ModelInfo(
            model_id="length",
            revision="1",
            kind=ScoreKind.LOGIT,
            frames=0,
            needs_video=False,
            card={"category": "text"},
        )

    def score(
        self, clip: Frames | None, texts: Sequence[str], mode: str = "", meta: VideoMeta | None = None
    ) -> list[Score]:
        """Return one score per text, in their order."""
        return [Score(-float(len(words(text))), ScoreKind.LOGIT) for text in texts]


def load_adapter(argument: str, *, device: str = "auto", dtype: str = "float32") -> Length:
    """Load the model that `length:ARGUMENT` names."""
    return Length()
