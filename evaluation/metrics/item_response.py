"""Fit the two-parameter logistic model of item response theory (docs/reference/formulas.md#metric-item-response).

Respondents (models or people) answer items right or wrong. P(right) = 1 / (1 + exp(-(slope * ability + easiness))).
Abilities have a standard normal distribution. The slope is the discrimination: how fast the chance of a right answer
rises with ability. It may be negative: then better respondents fail more often. There is no guessing parameter, because
models can be worse than a guess on foils made to mislead them.

With few models and many items, the mode of the marginal posterior (Mislevy 1986) is biased, and EM hardly moves along
the common scale of abilities and slopes. Here the posterior is sampled: Metropolis steps with a normal proposal at the
mode of each item and each ability, and joint steps along the scale and the origin of abilities, which the likelihood
does not change. The seed is fixed.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Generator = np.random.Generator

# Normal priors (mean, standard deviation). A slope of 1 is usual.
SLOPE_PRIOR, EASINESS_PRIOR = (1.0, 1.0), (0.0, 2.0)
BURN, DRAWS, SEED = 200, 600, 1
NEWTON_STEPS = 6
# A proposal is wider than the posterior, so that it covers the tails.
WIDER = 1.15
# Sizes of the steps along scale (logarithmic) and origin of abilities; with more data, smaller ones are accepted.
SCALE_STEPS, ORIGIN_STEPS = (0.02, 0.06, 0.2), (0.05, 0.2, 0.6)
Z = 1.959963984540054


@dataclass(frozen=True)
class Estimates:
    """Posterior means with 95 % intervals, (n,) each."""

    value: Floats
    low: Floats
    high: Floats


@dataclass(frozen=True)
class Fit:
    """Slope and easiness per item, ability per respondent.

    `reliability`: the share of the variance of abilities that is not error, 0 to 1.
    """

    slope: Estimates
    easiness: Estimates
    ability: Estimates
    reliability: float


@dataclass
class _State:
    slope: Floats
    easiness: Floats
    ability: Floats


def fit(right: Floats, n_answers: Floats, *, draws: int = DRAWS, burn: int = BURN, seed: int = SEED) -> Fit:
    """Fit the model to (respondents, items) numbers of right answers among `n_answers`; 0: no answer.

    Ties may count as a half.
    """
    rng = np.random.default_rng(seed)
    state = _State(
        np.full(right.shape[1], SLOPE_PRIOR[0]), _logit_share(right, n_answers), _first_abilities(right, n_answers)
    )
    states: list[_State] = []
    for step in range(burn + draws):
        _draw_items(state, right, n_answers, rng)
        _draw_abilities(state, right, n_answers, rng)
        for scale, origin in zip(SCALE_STEPS, ORIGIN_STEPS, strict=True):
            _rescale(state, scale, rng)
            _shift(state, origin, rng)
        if step >= burn:
            states.append(_State(state.slope, state.easiness, state.ability))
    abilities = np.stack([sample.ability for sample in states])
    error, spread = float(abilities.var(axis=0).mean()), float(abilities.mean(axis=0).var())
    return Fit(
        _estimates(np.stack([sample.slope for sample in states])),
        _estimates(np.stack([sample.easiness for sample in states])),
        _estimates(abilities),
        spread / (spread + error) if spread + error else 0.0,
    )


def _estimates(samples: Floats) -> Estimates:
    low, high = np.percentile(samples, [2.5, 97.5], axis=0)
    return Estimates(samples.mean(axis=0), low, high)


def _logit_share(right: Floats, n_answers: Floats) -> Floats:
    share = (right.sum(axis=0) + 0.5) / (n_answers.sum(axis=0) + 1.0)
    return np.log(share / (1 - share))


def _first_abilities(right: Floats, n_answers: Floats) -> Floats:
    share = (right.sum(axis=1) + 0.5) / (n_answers.sum(axis=1) + 1.0)
    logit = np.log(share / (1 - share))
    return (logit - logit.mean()) / (logit.std() or 1.0)


def _chance(logit: Floats) -> Floats:
    return 1.0 / (1.0 + np.exp(-np.clip(logit, -35.0, 35.0)))


def _log_likelihood(logit: Floats, right: Floats, n_answers: Floats) -> Floats:
    return right * logit - n_answers * np.logaddexp(0.0, logit)


def _draw_items(state: _State, right: Floats, n_answers: Floats, rng: Generator) -> None:
    """Draw slope and easiness of every item, given the abilities."""
    theta, n = state.ability[:, None], len(state.slope)
    slope, easiness = np.full(n, SLOPE_PRIOR[0]), np.full(n, EASINESS_PRIOR[0])
    for _ in range(NEWTON_STEPS):
        chance = _chance(theta * slope + easiness)
        residual, weight = right - n_answers * chance, n_answers * chance * (1 - chance)
        gradient = (
            (theta * residual).sum(axis=0) - (slope - SLOPE_PRIOR[0]) / SLOPE_PRIOR[1] ** 2,
            residual.sum(axis=0) - (easiness - EASINESS_PRIOR[0]) / EASINESS_PRIOR[1] ** 2,
        )
        aa = (theta**2 * weight).sum(axis=0) + SLOPE_PRIOR[1] ** -2
        ab = (theta * weight).sum(axis=0)
        bb = weight.sum(axis=0) + EASINESS_PRIOR[1] ** -2
        scale = aa * bb - ab**2
        slope = slope + np.clip((bb * gradient[0] - ab * gradient[1]) / scale, -1.5, 1.5)
        easiness = easiness + np.clip((aa * gradient[1] - ab * gradient[0]) / scale, -1.5, 1.5)
    # Cholesky factor of the covariance: standard deviation of the slope, and of the easiness given the slope.
    wide_a, rest_b, tilt = np.sqrt(bb / scale) * WIDER, WIDER / np.sqrt(bb), -ab / bb
    new_a = slope + wide_a * rng.standard_normal(n)
    new_b = easiness + tilt * (new_a - slope) + rest_b * rng.standard_normal(n)

    def weighed(a: Floats, b: Floats) -> Floats:
        """Return the log posterior minus the log density of the proposal."""
        posterior = _log_likelihood(theta * a + b, right, n_answers).sum(axis=0)
        posterior -= ((a - SLOPE_PRIOR[0]) / SLOPE_PRIOR[1]) ** 2 / 2
        posterior -= ((b - EASINESS_PRIOR[0]) / EASINESS_PRIOR[1]) ** 2 / 2
        off = b - easiness - tilt * (a - slope)
        return posterior + ((a - slope) / wide_a) ** 2 / 2 + (off / rest_b) ** 2 / 2

    accepted = np.log(rng.random(n)) < weighed(new_a, new_b) - weighed(state.slope, state.easiness)
    state.slope = np.where(accepted, new_a, state.slope)
    state.easiness = np.where(accepted, new_b, state.easiness)


def _draw_abilities(state: _State, right: Floats, n_answers: Floats, rng: Generator) -> None:
    """Draw the ability of every respondent, given the items."""
    slope, easiness, n = state.slope, state.easiness, len(state.ability)
    mode = np.zeros(n)
    for _ in range(NEWTON_STEPS):
        chance = _chance(mode[:, None] * slope + easiness)
        curve = (slope**2 * n_answers * chance * (1 - chance)).sum(axis=1) + 1.0
        mode = mode + np.clip((((right - n_answers * chance) * slope).sum(axis=1) - mode) / curve, -1.5, 1.5)
    wide = WIDER / np.sqrt(curve)
    new = mode + wide * rng.standard_normal(n)

    def weighed(theta: Floats) -> Floats:
        posterior = _log_likelihood(theta[:, None] * slope + easiness, right, n_answers).sum(axis=1) - theta**2 / 2
        return posterior + ((theta - mode) / wide) ** 2 / 2

    accepted = np.log(rng.random(n)) < weighed(new) - weighed(state.ability)
    state.ability = np.where(accepted, new, state.ability)


def _log_prior(state: _State) -> float:
    off = (state.slope - SLOPE_PRIOR[0]) / SLOPE_PRIOR[1], (state.easiness - EASINESS_PRIOR[0]) / EASINESS_PRIOR[1]
    return -float((off[0] ** 2).sum() + (off[1] ** 2).sum() + (state.ability**2).sum()) / 2


def _rescale(state: _State, size: float, rng: Generator) -> None:
    """Multiply abilities and divide slopes by one number, which leaves all chances as they are."""
    by = size * rng.standard_normal()
    new = _State(state.slope / np.exp(by), state.easiness, state.ability * np.exp(by))
    gain = _log_prior(new) - _log_prior(state) + by * (len(state.ability) - len(state.slope))
    if np.log(rng.random()) < gain:
        state.slope, state.ability = new.slope, new.ability


def _shift(state: _State, size: float, rng: Generator) -> None:
    """Add one number to all abilities, and correct the easiness of each item for it."""
    by = size * rng.standard_normal()
    new = _State(state.slope, state.easiness - state.slope * by, state.ability + by)
    if np.log(rng.random()) < _log_prior(new) - _log_prior(state):
        state.easiness, state.ability = new.easiness, new.ability


def respondents_needed(slope: float = 1.0, other_slope: float = 0.0) -> int:
    """Return the number of respondents whose 95 % interval for an item of usual difficulty tells two slopes apart.

    From the expected information of an item with an easiness of 0 and one answer per respondent.
    """
    theta = np.linspace(-5.0, 5.0, 201)
    weight = np.exp(-(theta**2) / 2)
    chance = _chance(slope * theta)
    information = float((weight / weight.sum() * chance * (1 - chance)) @ theta**2)
    return int(np.ceil((Z / (slope - other_slope)) ** 2 / information))
