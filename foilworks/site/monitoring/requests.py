"""The outermost middleware: give every request an id, count and time it, and limit who may load our responses."""

import fcntl
import logging
import os
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from csp.constants import HEADER as POLICY_HEADER
from csp.utils import build_policy
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from prometheus_client import CollectorRegistry, Histogram
from prometheus_client import Counter as CounterMetric
from prometheus_client.mmap_dict import MmapedDict

from foilworks.core.jobs.trace import valid_or_new_id, working_on
from foilworks.core.projects.model_folders import with_names

HEADER = "X-Request-ID"
# Static files, unknown addresses and refused host names.
NO_ROUTE = "none"
logger = logging.getLogger("foilworks.requests")
SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
METHODS = frozenset({"GET", "HEAD", "POST", "PATCH", "PUT", "DELETE", "OPTIONS"})
# More than all routes, methods and statuses take together, so that no file ever grows.
FILE_BYTES = 4 * 2**20
_REGISTRY = CollectorRegistry()
_REQUESTS = CounterMetric("foilworks_requests", "Requests answered", ["route", "method", "status"], registry=_REGISTRY)
_TIMES = Histogram(
    "foilworks_request_seconds", "Seconds that an answer took", ["route", "method"], buckets=SECONDS, registry=_REGISTRY
)


def count_request(route: str, method: str, status: int, seconds: float) -> None:
    """Count a request.

    `route` is the view's name. All unknown methods count as one, so that no stranger adds rows.
    """
    if not _has_files(os.getpid()):
        return
    method_label = method if method in METHODS else "other"
    _REQUESTS.labels(route, method_label, str(status)).inc()
    _TIMES.labels(route, method_label).observe(seconds)


@cache
def _has_files(process: int) -> bool:
    """Create the files in which this process counts, with their space on disk; return False without space.

    prometheus_client maps sparse files into memory. On a full disk the first write to one ends the process.
    """
    try:
        for kind in ("counter", "histogram"):
            _reserve(settings.METRICS_FOLDER / f"{kind}_{process}.db")
    except OSError:
        logger.warning("requests are not counted: the disk of %s is full; free space there", settings.METRICS_FOLDER)
        return False
    return True


@contextmanager
def counted_files(folder: Path) -> Iterator[None]:
    """Keep the files of a host's processes as they are within the block, so that no count is read twice."""
    with (folder / "lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        _merge_ended_processes(folder)
        yield


def _merge_ended_processes(folder: Path) -> None:
    """Add what ended processes counted to one file for each kind, so that no sum falls when a process is replaced."""
    for kind in ("counter", "histogram"):
        total, merged = folder / f"{kind}_ended.db", folder / f"{kind}_ended.new"
        ended = [path for path in folder.glob(f"{kind}_*.db") if _has_ended(path.stem.rpartition("_")[2])]
        if not ended:
            continue
        sums: Counter[str] = Counter()
        for path in [*ended, *([total] if total.exists() else [])]:
            for key, value, _at, _position in MmapedDict.read_all_values_from_file(str(path)):
                sums[key] += value
        try:
            _reserve(merged)
        except OSError:
            # Their own files still count.
            merged.unlink(missing_ok=True)
            return
        file = MmapedDict(str(merged))
        for key, value in sums.items():
            file.write_value(key, value, 0.0)
        file.close()
        merged.replace(total)
        for path in ended:
            path.unlink()


def _reserve(path: Path) -> None:
    """Create a file with its space on disk. OSError: the disk is full."""
    with path.open("a+b") as file:
        os.posix_fallocate(file.fileno(), 0, FILE_BYTES)


def _has_ended(number: str) -> bool:
    return number.isdecimal() and not _is_alive(int(number))


def _is_alive(number: int) -> bool:
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


class RequestMiddleware:
    """Put the request's id into the response, the log lines and the jobs that it starts."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        started, request_id = time.perf_counter(), valid_or_new_id(request.headers.get(HEADER, ""))
        # Django logs refused requests after this middleware; those lines need the request, too.
        request.request_id = request_id
        with working_on(request_id):
            response = self.get_response(request)
            seconds = time.perf_counter() - started
            route = request.resolver_match.view_name if request.resolver_match else ""
            count_request(route or NO_ROUTE, request.method or "", response.status_code, seconds)
            # The route, not the address: the log must contain no entry links and invitations.
            logger.info("%s %s %s in %.0f ms", request.method, route or NO_ROUTE, response.status_code, 1000 * seconds)
        response.headers[HEADER] = request_id
        return response


class CrossOriginMiddleware:
    """Keep other sites from loading our responses, and our pages from camera, microphone and location."""

    RESOURCE_POLICY = "same-origin"
    PERMISSIONS = "camera=(), microphone=(), geolocation=(), payment=(), usb=()"

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        response.headers.setdefault("Cross-Origin-Resource-Policy", self.RESOURCE_POLICY)
        response.headers.setdefault("Permissions-Policy", self.PERMISSIONS)
        if "Cookie" in response.headers.get("Vary", ""):
            # Personal responses stay in no cache. Pages that may be cached set their own header.
            response.headers.setdefault("Cache-Control", "private, no-store")
        return response


@cache
def content_policy() -> str:
    """Return the header's value: django-csp's middleware would put it together for each response."""
    return build_policy()


class ContentPolicyMiddleware:
    """Send the Content-Security-Policy of the settings, which is the same for all responses.

    Not with Django's own page about an error, which only developers see: it has scripts and styles in it.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if not (settings.DEBUG and response.status_code in {404, 500}):
            response.headers.setdefault(POLICY_HEADER, content_policy())
        return response


class ModelNameMiddleware:
    """Send names of models instead of their paths on this server, whichever page or operation shows them."""

    TEXTS = ("text/", "application/json", "application/problem+json")

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        is_text = not response.streaming and response.headers.get("Content-Type", "").startswith(self.TEXTS)
        if is_text and str(settings.MODEL_ROOT).encode() in response.content:
            response.content = with_names(response.content.decode(response.charset)).encode(response.charset)
        return response
