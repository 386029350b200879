"""Errors of the server's responses, and of jobs that failed."""


class ApiError(Exception):
    """An error response: HTTP `status`, `problem` in words, invalid `fields`: {where: why}."""

    def __init__(self, status: int, problem: str, fields: dict[str, str]) -> None:
        field_texts = "".join(f"; {field_path}: {field_problem}" for field_path, field_problem in fields.items())
        super().__init__(f"{status}: {problem}{field_texts}")
        self.status, self.problem, self.fields = status, problem, fields
