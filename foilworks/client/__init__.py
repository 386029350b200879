"""Use the API of Foilworks from a program; needs only httpx.

    with Client("https://foilworks.example", token) as foilworks:
        while work := foilworks.claim("my-project", "validation"):
            foilworks.submit(work, answer=judge(work.texts))

Methods return the JSON of docs/reference/api.md as dictionaries, a claimed task as `Work`. `ApiError` says what went
wrong.
"""

from foilworks.client.client import Client, Work
from foilworks.client.errors import ApiError
from foilworks.client.signatures import is_signed

__all__ = ["ApiError", "Client", "Work", "is_signed"]
