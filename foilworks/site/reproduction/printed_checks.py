"""Find printed numbers that contradict each other, by arithmetic alone. Pure."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from scipy.optimize import linprog

from foilworks.site.reproduction.printed_tables import PrintedTable

# Binary fractions.
TINY = 1e-9
# Three rounded numbers: half a unit of each.
N_ROUNDED = 3
DIFFERS = "{}, {}: {} is {}, but {} - {} is {}."
TWICE = "{}, {}: {} in {}, but {} in {}."
NO_SHARES = (
    "{}, {}: {} over all is {}. No shares of the parts give the numbers over all of all {} rows; those that give the "
    "numbers of the others within {:.1f} give {:.1f}."
)


def differing(name: str, table: PrintedTable, first: str, second: str, difference: str, digits: int) -> Iterator[str]:
    """Yield a sentence per row in which `difference` is not `first` less `second`, whatever was rounded."""
    for row in table.rows:
        numbers = [table.number(row, column) for column in (first, second, difference)]
        if None in numbers:
            continue
        high, low, printed = (float(number or 0) for number in numbers)
        if abs(high - low - printed) > N_ROUNDED * 0.5 * 10**-digits + TINY:
            yield DIFFERS.format(name, row, difference, printed, high, low, round(high - low, digits))


def repeated(row: str, column: str, *places: tuple[str, float | None]) -> Iterator[str]:
    """Yield a sentence if two places print different numbers, as exactly as the coarser of them."""
    (first, first_number), (second, second_number) = places
    if first_number is None or second_number is None:
        return
    digits = min(len(str(number).partition(".")[2]) for number in (first_number, second_number))
    if abs(first_number - second_number) > 0.5 * 10**-digits + TINY:
        yield TWICE.format(row, column, first_number, first, second_number, second)


def without_shares(
    name: str, column: str, rows: Mapping[str, Sequence[float]], tolerance: float = 0.1
) -> Iterator[str]:
    """Yield the row without which shares of the parts (sum 1) give each row's last number, its weighted mean.

    `tolerance`: half a unit of the parts and of the mean. Yields nothing if shares fit all rows, or if no single row
    can be blamed.
    """
    if _shares(list(rows.values()))[1] <= tolerance + TINY:
        return
    fits = {row: _shares([numbers for other, numbers in rows.items() if other != row]) for row in rows}
    row = min(fits, key=lambda name_of_row: fits[name_of_row][1])
    shares, error = fits[row]
    if error <= 1.1 * tolerance:
        *parts, overall = rows[row]
        yield NO_SHARES.format(name, row, column, overall, len(rows), error, float(np.dot(shares, parts)))


def _shares(rows: Sequence[Sequence[float]]) -> tuple[np.ndarray, float]:
    """Return the shares with the least greatest error of the weighted means, and that error."""
    table = np.array(rows)
    parts, means = table[:, :-1], table[:, -1]
    n, k = parts.shape
    slack = -np.ones((n, 1))
    limits = np.vstack([np.hstack([parts, slack]), np.hstack([-parts, slack])])
    solution = linprog(
        [*[0.0] * k, 1.0],
        A_ub=limits,
        b_ub=np.concatenate([means, -means]),
        A_eq=[[*[1.0] * k, 0.0]],
        b_eq=[1.0],
    )
    return solution.x[:-1], float(solution.fun)
