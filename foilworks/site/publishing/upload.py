"""Upload a written folder to the Hugging Face Hub through its own client library."""

import re
from pathlib import Path
from typing import Any

from evaluation.errors import EvaluationError
from foilworks.core.text.quoting import quoted

PREFIX = "hub:"
_REPOSITORY = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")
# Files of an earlier release that this one does not have.
REPLACED = ("data/*", "choices/*", "videos/*", "inspect/*")
COMMIT = "Release {name}"


def repository_of(target: str) -> str:
    """Return OWNER/NAME of `hub:OWNER/NAME`. EvaluationError: it is neither."""
    name = target.removeprefix(PREFIX)
    if not target.startswith(PREFIX) or not _REPOSITORY.fullmatch(name):
        raise EvaluationError(f"--to: {quoted(target)} is not a place to upload to; give hub:OWNER/NAME")
    return name


def token_of(path: Path | None) -> str | None:
    """Return the token in the file; None lets the library use the login of this machine."""
    if path is None:
        return None
    try:
        token = path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise EvaluationError(f"--token-file: {path} cannot be read; give a file that contains the token") from error
    if not token:
        raise EvaluationError(f"--token-file: {path} is empty; write the token into it")
    return token


def upload_folder(
    folder: Path, repository: str, *, name: str, token: str | None = None, endpoint: str | None = None
) -> str:
    """Upload the folder and return its address. A new repository is private. EvaluationError: the Hub refuses."""
    api, refused = _client(token, endpoint)
    try:
        api.create_repo(repository, repo_type="dataset", private=True, exist_ok=True)
        made = api.upload_folder(
            repo_id=repository,
            repo_type="dataset",
            folder_path=folder,
            commit_message=COMMIT.format(name=name),
            delete_patterns=list(REPLACED),
        )
    except refused as error:
        first = str(error).strip().partition("\n")[0]
        raise EvaluationError(
            f"{repository}: the Hub refused the upload ({first}); fix this and repeat --to"
        ) from error
    return str(made.commit_url)


def _client(token: str | None, endpoint: str | None) -> tuple[Any, tuple[type[Exception], ...]]:
    """Return the client and the errors that it raises. EvaluationError: the library is not installed."""
    try:
        import huggingface_hub
        from huggingface_hub.errors import HfHubHTTPError, HFValidationError, OfflineModeIsEnabled
    except ImportError as error:
        raise EvaluationError(
            "huggingface_hub: is not installed; install it with `pip install 'foilworks[models]'`"
        ) from error
    # OSError covers a network that cannot be reached, whichever client the library uses.
    refused = (HfHubHTTPError, HFValidationError, OfflineModeIsEnabled, OSError, RuntimeError)
    return huggingface_hub.HfApi(endpoint=endpoint, token=token), refused
