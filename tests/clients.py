"""Test clients for thousands of requests to the same pages."""

from functools import cache
from typing import Any

from django.test import Client
from django.test.client import ClientHandler


@cache
def shared_handler() -> ClientHandler:
    return ClientHandler(enforce_csrf_checks=False)


def quick_client(**wishes: Any) -> Client:
    """Return a client with the middleware of all such clients, as the product makes it once a process: else, each
    client makes its own at its first request. Settings that middleware reads when it is made stay those of the first.
    """
    client = Client(**wishes)
    client.handler = shared_handler()
    return client
