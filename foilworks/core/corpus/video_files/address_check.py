"""Ask the hosts of MEDIA_HOSTS whether a clip's address still leads to a file: HEAD requests, and nothing else.

Only the command `foilworks sources check --urls` does this. Pages and workers never connect to these hosts.
"""

from contextlib import suppress
from types import TracebackType
from urllib.parse import urljoin

import httpx

from foilworks.core.corpus.video_files.player import plays_elsewhere

TIMEOUT_SECONDS = 10
MAX_REDIRECTS = 3
# A host that refuses the method says nothing about the file.
_NOT_ANSWERED = frozenset({405, 429, 501, 503})


class AddressCheck:
    """A connection to the hosts; `unanswered` counts addresses that could not be checked."""

    def __init__(self) -> None:
        self.unanswered = 0
        # The proxies and credentials of this host's environment are not for hosts that data sets name.
        self._client = httpx.Client(timeout=TIMEOUT_SECONDS, follow_redirects=False, trust_env=False)

    def __enter__(self) -> "AddressCheck":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None):
        self._client.close()

    def problem(self, url: str) -> str:
        """Return why browsers cannot play the address, or "". Redirects are followed only to hosts of MEDIA_HOSTS."""
        for _attempt in range(MAX_REDIRECTS + 1):
            if not plays_elsewhere(url):
                return "its host is not in MEDIA_HOSTS"
            try:
                answer = self._client.head(url)
            except (httpx.HTTPError, httpx.InvalidURL) as error:
                return f"no answer ({type(error).__name__})"
            if not answer.has_redirect_location:
                break
            with suppress(ValueError):
                url = urljoin(url, answer.headers["location"])
        else:
            return f"more than {MAX_REDIRECTS} redirects"
        if answer.status_code in _NOT_ANSWERED:
            self.unanswered += 1
            return ""
        return "" if answer.is_success else f"the host answers {answer.status_code}"
