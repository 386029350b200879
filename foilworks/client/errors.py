"""Errors of the server's responses."""


class ApiError(Exception):
    """An error response: HTTP `status`, `problem` in words, invalid `fields`: {where: why}."""

    def __init__(self, status: int, problem: str, fields: dict[str, str]) -> None:
        more = "".join(f"; {where}: {why}" for where, why in fields.items())
        super().__init__(f"{status}: {problem}{more}")
        self.status, self.problem, self.fields = status, problem, fields
