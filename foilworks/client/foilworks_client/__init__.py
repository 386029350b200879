"""Use the API of Foilworks from a program; needs only httpx.

    with Client("https://foilworks.example", token) as foilworks:
        while work := foilworks.claim("my-project", "validation"):
            foilworks.submit(work, answer=judge(work.texts))

`Client.api` has every operation of the document, with typed records; `AsyncClient` is the same with `await`.
`ApiError` says what went wrong.
"""

from . import records
from .async_client import AsyncClient
from .client import Client
from .errors import ApiError
from .frames import to_pandas
from .signatures import is_signed
from .work import Work

__all__ = ["ApiError", "AsyncClient", "Client", "Work", "is_signed", "records", "to_pandas"]
