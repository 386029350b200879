"""A small client of the API for programs; of all that Foilworks needs, it needs httpx alone.

    with Client("https://foilworks.example", token) as foilworks:
        while work := foilworks.claim("my-project", "validation"):
            foilworks.submit(work, answer=judge(work.texts))

Methods answer with the JSON of docs/reference/api.md as dictionaries, a piece of work as `Work`. `ApiError` says what
went wrong.
"""

from foilworks.client.client import Client, Work
from foilworks.client.errors import ApiError
from foilworks.client.signatures import is_signed

__all__ = ["ApiError", "Client", "Work", "is_signed"]
