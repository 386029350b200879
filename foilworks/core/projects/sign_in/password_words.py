"""Words that are not enough for a password of this installation (docs/how-to/people.md#accounts)."""

import re
from collections.abc import Iterator

from django.conf import settings
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

from foilworks.core.projects.models import User

# What the product and its work are called, and what people call a password.
WORDS = frozenset(
    {"foilworks", "foil", "foils", "caption", "captions", "video", "videos", "benchmark", "annotator", "annotation"}
    | {"reviewer", "validator", "researcher", "project", "password", "passwort", "admin", "welcome"}
)
MIN_WORD_LENGTH = 3
# So many other characters than those of the words.
MIN_OTHERS = 6


class ContextWords:
    """One of AUTH_PASSWORD_VALIDATORS."""

    def validate(self, password: str, user: User | None = None) -> None:
        remainder = password.lower()
        for word in sorted({*WORDS, *_words_of(user)}, key=len, reverse=True):
            remainder = remainder.replace(word, "")
        if len(remainder) < min(MIN_OTHERS, len(password)) and remainder != password.lower():
            raise ValidationError(self.get_help_text(), code="password_of_known_words")

    def get_help_text(self) -> str:
        return _("Do not use only names of this site, its work or yourself. Add other words.")


def _words_of(user: User | None) -> Iterator[str]:
    """The words of the site's names and of the person's own."""
    texts = list(settings.ALLOWED_HOSTS)
    if user is not None:
        texts += [user.username, user.first_name, user.last_name, user.email]
    for text in texts:
        yield from (word for word in re.split(r"\W+", text.lower()) if len(word) >= MIN_WORD_LENGTH)
