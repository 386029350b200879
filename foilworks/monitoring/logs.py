"""Lines of the log as JSON objects (LOG_FORMAT=json), each with the request and the job that it belongs to."""

import json
import logging
from datetime import UTC, datetime

from jobs.trace import job_id, request_id


class JsonFormatter(logging.Formatter):
    """One object a line: time, level, logger, message, request_id and job_id where there are some, error."""

    def format(self, record: logging.LogRecord) -> str:
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
        }
        ids = {"request_id": _request_of(record), "job_id": job_id()}
        line |= {name: value for name, value in ids.items() if value}
        if record.exc_info:
            line["error"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False)


class PlainFormatter(logging.Formatter):
    """For people: the ids stand at the end of the line."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 (its base class names it so)
        ids = {"request": _request_of(record), "job": job_id()}
        said = " ".join(f"{name}={value}" for name, value in ids.items() if value)
        # Whoever sends a line end writes no line of ours; the trace of an error comes behind, with its own.
        line = super().formatMessage(record).replace("\r", "\\r").replace("\n", "\\n")
        return line + (f" [{said}]" if said else "")


class RouteForAddress(logging.Filter):
    """Django's lines of what was refused or failed hold the path, and with it the token of an invitation or of a piece
    of work: they get the route in its place. An address that leads nowhere stays: somebody looks for that broken link.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        match = getattr(getattr(record, "request", None), "resolver_match", None)
        if match is not None and isinstance(record.args, tuple):
            route = f"/{match.route}"
            record.args = tuple(route if isinstance(said, str) and said[:1] == "/" else said for said in record.args)
        return True


def _request_of(record: logging.LogRecord) -> str:
    return request_id() or getattr(getattr(record, "request", None), "request_id", "")
