"""The error of the corpus: a file or a request about videos, captions and items that a person can fix."""

from foilworks.core.text.errors import ActionableError


class CorpusError(ActionableError):
    """For files it reads `PATH:LINE: FIELD: what is wrong; what to do`."""
