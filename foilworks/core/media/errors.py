"""The error of media: a file that cannot be used as a video, with what to do about it."""

from foilworks.core.text.errors import ActionableError


class MediaError(ActionableError):
    """Reads `PATH: what is wrong; what to do`."""
