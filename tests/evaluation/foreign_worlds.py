"""Make up video benchmarks with a known need of every item. The author had not seen how the ladder reads them."""

from dataclasses import dataclass

import numpy as np

RUNGS = ("words", "picture", "frames", "order")
NO_NEED = 4
P = 0.4  # probability of each difficulty
FLOOR = 0.12  # least share of looks in which an able model knows


@dataclass(frozen=True)
class World:
    credit: dict
    text_only: frozenset
    chance: np.ndarray
    clusters: list
    subtests: list
    need: np.ndarray
    control: dict
    control_chance: np.ndarray
    traits: frozenset


TRAITS = (
    "shared_errors",
    "position_bias",
    "refusals_nan",
    "refusals_wrong",
    "ties",
    "full_ties",
    "ood_gray",
    "ood_shuffle",
    "non_monotone",
    "weak_solvers",
    "uneven_solvers",
    "repeats",
    "sticky_rungs",
    "alike_videos",
    "twins",
    "model_at_luck",
    "text_partial",
    "narrow_reach",
    "slow_start",
    "frame_draw",
    "mixed_k",
    "subtests_differ",
    "lost_looks",
    "no_control",
    "control_unlike",
)


def _clusters(rng, n):
    kind = rng.choice(["single", "small", "heavy"])
    out, c = [], 0
    while len(out) < n:
        if kind == "single":
            s = 1 if rng.random() < 0.9 else 2
        elif kind == "small":
            s = int(rng.integers(1, 6))
        else:
            s = int(min(n // 10, 1 + rng.pareto(1.1)))
        out += [c] * max(1, s)
        c += 1
    return np.array(out[:n])


def _shares(rng):
    """Shares of the needs 0, 1, 2, 3, 4."""
    kind = rng.choice(
        ["dominant", "even", "wide", "tenth", "no_order", "half_lost"], p=[0.25, 0.2, 0.25, 0.15, 0.1, 0.05]
    )
    if kind == "dominant":
        s = np.full(5, 0.0125)
        s[rng.choice(5, p=[0.25, 0.25, 0.2, 0.25, 0.05])] = 0.95
    elif kind == "even":
        s = np.full(5, 0.2)
        if rng.random() < 0.5:
            s[4] = 0
    elif kind == "wide":
        s = rng.dirichlet(np.full(5, 0.5))
    elif kind == "tenth":
        s = np.append(rng.dirichlet(np.ones(4)) * 0.9, 0.1)
    elif kind == "no_order":
        s = rng.dirichlet(np.ones(5))
        s[3] = 0
    else:
        s = np.append(rng.dirichlet(np.ones(4)) * 0.5, 0.5)
    return s / s.sum()


def _needs(rng, cluster, sub, tr):
    base = _shares(rng)
    share = {x: (_shares(rng) if "subtests_differ" in tr and x else base) for x in np.unique(sub)}
    need = np.array([rng.choice(5, p=share[x]) for x in sub])
    if "alike_videos" in tr:
        # most items of a video take over the need of an item of that video
        for c in np.unique(cluster):
            idx = np.flatnonzero(cluster == c)
            take = rng.random(len(idx)) < 0.7
            need[idx[take]] = need[idx[0]]
    return need


def _pull(rng, shape, kk, scale, cluster, tr):
    """What draws a guesser to a candidate (slot 0 is the right one): exchangeable over slots."""
    n, most = shape
    a = rng.normal(0, 1, (n, most)) * scale
    if scale > 0 and ("alike_videos" in tr or "twins" in tr):
        r = np.random.default_rng(tr["layout"])  # the same layout for all models
        for c in np.unique(cluster):
            idx = np.flatnonzero(cluster == c)
            for j, i in enumerate(idx[1:], 1):
                if r.random() > 0.65:
                    continue
                if "twins" in tr and j % 2:
                    # same texts, another of them is right: a blind guesser is right on one of both
                    k = kk[idx[j - 1]]
                    a[i] = a[idx[j - 1]]
                    a[i, :k] = np.roll(a[idx[j - 1], :k], 1)
                elif "alike_videos" in tr:
                    # runs of five, so that one giant video is not one single coin
                    a[i] = a[idx[j - j % 5]] + rng.normal(0, 0.3, most) * scale
    return a


def _guess(rng, pull, kk, pos, bias_first, bias_last, tie, full_tie):
    """Credit of pure guesses, (n, looks)."""
    n, n_looks, most = pos.shape
    dead = np.arange(most)[None, None, :] >= kk[:, None, None]
    z = pull[:, None, :] + rng.gumbel(size=(n, n_looks, most))
    z = z + bias_first * (pos == 0) + bias_last * (pos == (kk - 1)[:, None, None])
    z = np.where(dead, -np.inf, z)
    order = np.argsort(-z, axis=2, kind="stable")
    pick = order[:, :, 0]
    credit = (pick == 0).astype(float)
    if tie > 0:
        t = rng.random((n, n_looks)) < tie
        two = (order[:, :, :2] == 0).any(2) * 0.5
        credit = np.where(t, two, credit)
    if full_tie > 0:
        t = rng.random((n, n_looks)) < full_tie
        credit = np.where(t, 1.0 / kk[:, None], credit)
    return credit


def _positions(rng, n, n_looks, most, kk):
    u = rng.random((n, n_looks, most))
    u[np.broadcast_to(np.arange(most)[None, None, :] >= kk[:, None, None], u.shape)] = 9
    return np.argsort(np.argsort(u, axis=2), axis=2)


def _fall(rng, n, kind):
    """A factor per item on what a model knows on a rung that is strange to it."""
    if kind == "smooth":
        return np.full(n, rng.uniform(0.25, 0.8))
    return np.where(rng.random(n) < rng.uniform(0.2, 0.7), 0.05, 1.0)


def _model(rng, tr, spec, need, kk, pull, pos, reach, easy, fall, rungs):
    """Answers of one model: {rung: (n, looks)}."""
    n, n_looks, _most = pos.shape
    chance = 1.0 / kk
    out, before = {}, None
    conc = spec["conc"]
    base = np.clip((spec["acc"] - chance) / (1 - chance), FLOOR, 0.995)
    if conc:
        base = rng.beta(base * conc, (1 - base) * conc)
    base = np.clip(base + easy, FLOOR, 0.995)
    shy = rng.beta(0.7, 1.2, n)  # some items are refused always
    for rung in rungs:
        r = RUNGS.index(rung)
        able = (need <= r) & reach & (not spec["luck"])
        p = base * fall.get(rung, np.ones(n))
        if "slow_start" in tr:
            p = np.where(need == r, p * spec["slow"], p)
        if "non_monotone" in tr and spec["dips"] and rung == tr["dip"]:
            p = p * tr["dip_factor"]
        know = np.clip(p, FLOOR, 1)[:, None] * np.ones(n_looks)
        if "frame_draw" in tr and rung in ("picture", "frames"):
            # the draw of frames holds the telling moment only in some looks, the same for all models
            seen = tr["seen"][rung][:n] if n <= len(tr["seen"][rung]) else None
            if seen is not None:
                know = np.where((need == r)[:, None] & ~seen, 0.02, know)
        know = np.where(able[:, None], know, 0)
        odd = 1.8 if rung in fall else 1.0  # strange input: bias grows
        g = _guess(
            rng,
            np.where(able[:, None], 0.3, 1.0) * pull,
            kk,
            pos,
            spec["first"] * odd,
            spec["last"] * odd,
            spec["tie"],
            spec["full"] * (1.0, 0.6, 0.4, 0.2)[r],
        )
        if "sticky_rungs" in tr and before is not None:
            keep = (rng.random((n, n_looks)) < spec["sticky"]) & ~able[:, None]
            g = np.where(keep, before, g)
        before = g
        knows = rng.random((n, n_looks)) < know
        c = np.where(knows, 1.0, g)
        ref = spec["refuse"] * (1.0, 0.5, 0.25, 0.08)[r]
        if ref > 0:
            no = rng.random((n, n_looks)) < np.clip(2.7 * ref * shy, 0, 0.97)[:, None]
            no &= ~knows | (rng.random((n, n_looks)) < 0.25)  # who knows seldom refuses
            c = np.where(no, spec["refuse_as"], c)
        if "repeats" in tr and n_looks > 1:
            same = rng.random((n, n_looks)) < spec["repeat"]
            same[:, 0] = False
            c = np.where(same, c[:, :1], c)
        if "lost_looks" in tr:
            c = np.where(rng.random((n, n_looks)) < tr["lost"], np.nan, c)
            if n_looks > 1 and spec["cut"]:
                c[int(n * 0.7) :, -1] = np.nan  # a run that broke off
        out[rung] = c
    return out


class _Traits(dict):
    """Trait names and the world's settings; `in` asks for either."""


def make_world(seed, *, needs_nothing=False, looks=None):
    rng = np.random.default_rng([int(seed), 7919])
    names = {t for t in TRAITS if rng.random() < P}
    n_looks = int(rng.choice([1, 3, 6]))
    if looks is not None:
        n_looks = int(looks)
    n = int(np.round(np.exp(rng.uniform(np.log(80), np.log(400)))))
    n = min(400, max(80, n))
    n_clip = int(rng.choice([1, 2, 3, 4], p=[0.2, 0.3, 0.3, 0.2]))
    n_text = int(rng.choice([0, 1, 2], p=[0.35, 0.45, 0.2]))
    # drop what cannot show
    if "refusals_nan" in names and "refusals_wrong" in names:
        names.discard(str(rng.choice(["refusals_nan", "refusals_wrong"])))
    if needs_nothing:
        names.discard("refusals_wrong")  # a refusal counted as wrong is no guess
    if n_looks == 1:
        names.discard("repeats")
    if n_clip == 1:
        names -= {"model_at_luck", "narrow_reach"}
    if n_text == 0:
        names.discard("text_partial")
    if "no_control" in names:
        names.discard("control_unlike")
    if not names & {"ood_shuffle"}:
        names.discard("control_unlike")

    tr = _Traits(dict.fromkeys(names, True))
    tr["layout"] = [int(seed), 17]
    tr["dip"] = str(rng.choice(RUNGS))
    tr["dip_factor"] = rng.uniform(0.3, 0.7)
    tr["lost"] = rng.uniform(0.01, 0.15)
    tr["seen"] = {r: rng.random((n, n_looks)) < rng.uniform(0.5, 0.9) for r in ("picture", "frames")}

    cluster = _clusters(rng, n)
    n_sub = int(rng.integers(1, 4))
    if n_sub == 1:
        names.discard("subtests_differ")
        tr.pop("subtests_differ", None)
    if len(np.unique(cluster)) == n:
        for t in ("alike_videos", "twins"):
            names.discard(t)
            tr.pop(t, None)
    by_video = rng.random() < 0.5
    weights = rng.dirichlet(np.full(n_sub, 2.0))
    sub = rng.choice(n_sub, size=n, p=weights)
    if by_video:
        sub = rng.choice(n_sub, size=cluster.max() + 1, p=weights)[cluster]
    most = 5
    ks = rng.integers(2, 6, cluster.max() + 1) if "mixed_k" in tr else np.full(cluster.max() + 1, rng.integers(2, 6))
    kk = ks[cluster]
    need = np.full(n, NO_NEED) if needs_nothing else _needs(rng, cluster, sub, tr)
    need = need.astype(int)

    common = _pull(rng, (n, most), kk, rng.uniform(1.5, 4) if "shared_errors" in tr else 0.0, cluster, tr)
    pos = _positions(rng, n, n_looks, most, kk)  # the same orders for all models
    easy = rng.normal(0, 0.15, n) if "uneven_solvers" in tr else np.zeros(n)

    clip = [f"clip{i}" for i in range(n_clip)]
    text = [f"text{i}" for i in range(n_text)]
    luck = str(rng.choice(clip + text)) if "model_at_luck" in tr else None
    all_fall = rng.random() < 0.5
    fall_kind = str(rng.choice(["smooth", "items"]))
    bias_side = rng.choice(["first", "last", "any"])

    specs, reaches = {}, {}
    hard = rng.normal(0, 1, n)
    for m in clip + text:
        b = rng.uniform(0.7, 2.5) if "position_bias" in tr else 0.0
        side = bias_side if bias_side != "any" else rng.choice(["first", "last"])
        specs[m] = {
            "acc": rng.uniform(0.6, 0.9) if "weak_solvers" in tr else rng.uniform(0.92, 0.99),
            "conc": rng.uniform(3, 15) if "uneven_solvers" in tr else 0.0,
            "first": b * (side == "first"),
            "last": b * (side == "last"),
            "tie": rng.uniform(0.05, 0.5) if "ties" in tr else 0.0,
            "full": rng.uniform(0.1, 0.7) if "full_ties" in tr else 0.0,
            "slow": rng.uniform(0.4, 0.9),
            "dips": bool(rng.random() < 0.7),
            "sticky": rng.uniform(0.5, 0.9),
            "repeat": rng.uniform(0.7, 0.9),
            "refuse": (
                rng.uniform(0.1, 0.5)
                if "refusals_nan" in tr
                else rng.uniform(0.03, 0.2)
                if "refusals_wrong" in tr
                else 0.0
            ),
            "refuse_as": np.nan if "refusals_nan" in tr else 0.0,
            "luck": m == luck,
            "cut": bool(rng.random() < 0.3),
        }
        cut = rng.uniform(-0.2, 1.5) if "narrow_reach" in tr else 9.0
        reaches[m] = 0.8 * hard + 0.6 * rng.normal(0, 1, n) < cut
        if m in text and "text_partial" in tr:
            reaches[m] &= rng.random(n) < rng.uniform(0.2, 0.7)
    # a need below NO_NEED means that some model that sees clips can answer the item
    good = [m for m in clip if m != luck]
    lost = ~np.any([reaches[m] for m in good], axis=0)
    best = good[int(rng.integers(len(good)))]
    reaches[best] = reaches[best] | lost

    credit, falls = {}, {}
    for m in clip + text:
        own = _pull(rng, (n, most), kk, rng.uniform(0.3, 1.5), cluster, tr)
        f = {}
        if m in clip:
            if "ood_gray" in tr and (all_fall or m == clip[0] or rng.random() < 0.5):
                f["words"] = _fall(rng, n, fall_kind)
            if "ood_shuffle" in tr and (all_fall or m == clip[0] or rng.random() < 0.5):
                f["frames"] = _fall(rng, n, fall_kind)
        falls[m] = f
        credit[m] = _model(
            rng, tr, specs[m], need, kk, common + own, pos, reaches[m], easy, f, RUNGS if m in clip else ("words",)
        )

    control, control_chance = {}, np.zeros(0)
    if "no_control" not in tr:
        m = int(rng.integers(15, 91))
        k2 = rng.integers(2, 6, m) if "mixed_k" in tr else np.full(m, kk[0])
        cn = (
            np.full(m, NO_NEED)
            if needs_nothing
            else rng.choice([0, 1, 2, NO_NEED], size=m, p=rng.dirichlet([2, 2, 2, 0.5]))
        )
        own = rng.normal(0, 1, (m, most)) * (2 if "shared_errors" in tr else 0.8)
        f = {}
        if "frames" in falls[clip[0]]:
            f["frames"] = rng.choice(falls[clip[0]]["frames"], size=m)
            if "control_unlike" in tr:  # a milder or a harder fall there
                f["frames"] = f["frames"] ** rng.choice([0.4, 1.8])
        tr2 = _Traits(tr)
        tr2["seen"] = {r: rng.random((m, n_looks)) < rng.uniform(0.5, 0.9) for r in ("picture", "frames")}
        control = _model(
            rng,
            tr2,
            specs[clip[0]],
            cn,
            k2,
            own,
            _positions(rng, m, n_looks, most, k2),
            np.ones(m, bool),
            np.zeros(m),
            f,
            ("frames", "order"),
        )
        control_chance = 1.0 / k2

    shuffle = rng.permutation(n) if rng.random() < 0.5 else np.arange(n)
    credit = {a: {r: x[shuffle] for r, x in d.items()} for a, d in credit.items()}
    return World(
        credit,
        frozenset(text),
        (1.0 / kk)[shuffle],
        [f"v{c}" for c in cluster[shuffle]],
        [f"s{x}" for x in sub[shuffle]],
        need[shuffle],
        control,
        control_chance,
        frozenset(names),
    )
