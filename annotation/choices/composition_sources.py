"""Read the sources of composed items: a generation run's candidates, or the items of a subtest."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.db.models import Prefetch, Q, QuerySet
from django.utils.translation import gettext as _

from annotation.errors import AnnotationError
from foilworks.core.corpus.models import FOUND_FALSE, NOT_RELIED_ON, Caption, Foil, Item, MediaState, Subtest
from foilworks.core.corpus.release_records import OF_EACH_FOIL, release_id
from foilworks.core.corpus.rules.hard_foils import HARD_FOIL, Candidates, hard_foils
from foilworks.core.corpus.rules.states import CandidateState, FoilVerdict, ItemState
from foilworks.core.projects.models import Project
from foilworks.core.text.quoting import quoted
from generation.choices.compose import COMPOSED, ROLES, HardOption, RandomItem, plain
from generation.models import PERSON_METHOD, Candidate, CandidateGroup, GenerationRun

RUN = "run:"
LIVE = (ItemState.IN_VALIDATION, ItemState.VALID)
# Foils that validators found true of the clip, or disagree on.
REFUSED = (FoilVerdict.INVALID, FoilVerdict.DISPUTED)
WAITING = (CandidateState.QUEUED, CandidateState.IN_REVIEW)
MACHINE, PERSON = "machine", "person"
# Facts that do not follow a foil into another item: `characters` are what a method reads, the others are its own.
NOT_COPIED = frozenset({COMPOSED, ROLES, HARD_FOIL, "characters"})
NUMBERED = "{key}~{number}"
MAX_KEY = 180


@dataclass(frozen=True)
class Source:
    """A subtest's items, or the candidates of one of its runs; `unreviewed`: also those that nobody reviewed yet."""

    subtest: Subtest
    run: GenerationRun | None = None
    unreviewed: bool = False

    @property
    def candidates(self) -> QuerySet[Candidate]:
        """Return the candidates of the run that passed its filters and that no person rejected."""
        states = (CandidateState.ACCEPTED, *(WAITING if self.unreviewed else ()))
        rows = Candidate.objects.filter(group__run=self.run, state__in=states)
        return rows.exclude(foil__verdict__in=REFUSED)

    @property
    def items(self) -> QuerySet[Item]:
        """Return the items of the subtest that are valid or wait for votes, and whose caption and clip are usable."""
        usable = _usable(self.subtest.project_id)
        return Item.objects.filter(subtest=self.subtest, state__in=LIVE, pair="", caption__in=usable)


def source_named(project: Project, word: str, *, unreviewed: bool) -> Source:
    """Return the source that `word` names: `run:12`, or the name of a subtest. AnnotationError: there is none."""
    if word.startswith(RUN) and word.removeprefix(RUN).isdecimal():
        number = int(word.removeprefix(RUN))
        run = GenerationRun.objects.filter(project=project, pk=number).select_related("subtest").first()
        if run is None:
            raise AnnotationError(
                _("This project has no run %(number)s. Choose a run from Generate → Runs.") % {"number": number}
            )
        return Source(run.subtest, run, unreviewed)
    subtests = Subtest.objects.filter(project=project)
    subtest = subtests.filter(name=word).first()
    if subtest is None:
        available_names = ", ".join(subtests.values_list("name", flat=True)) or _("(none yet)")
        raise AnnotationError(
            _("Subtest %(name)s not found. Choose one of: %(known)s; or a run, as in run:12.")
            % {"name": quoted(word), "known": available_names}
        )
    return Source(subtest, None, unreviewed)


def random_items(source: Source, n_foils: int) -> tuple[list[RandomItem], int]:
    """Return the Random items of the source, and the number of its items or captions that are rejected or removed."""
    if source.run is not None:
        source_items, n_all = _of_run(source, n_foils), CandidateGroup.objects.filter(run=source.run).count()
    else:
        source_items, n_all = _of_subtest(source), Item.objects.filter(subtest=source.subtest).count()
    true = _true_texts(source.subtest.project_id, {item.video_id for item in source_items})
    key_counts: Counter[str] = Counter()
    keyed_items = []
    for item in source_items:
        key_counts[item.key] += 1
        number = key_counts[item.key]
        key = item.key if number == 1 else NUMBERED.format(key=item.key, number=number)
        keyed_items.append(replace(item, key=key, true_texts=frozenset(true[item.video_id])))
    return keyed_items, n_all - len(source_items)


def hard_options(source: Source) -> dict[int, list[HardOption]]:
    """Return the possible hard foils of the source by caption (id)."""
    return _options_of_run(source) if source.run is not None else _options_of_items(source)


def _usable(project: int) -> QuerySet[Caption]:
    captions = Caption.objects.filter(video__project=project).exclude(NOT_RELIED_ON)
    return captions.exclude(video__media_state=MediaState.TAKEN_DOWN)


def _of_subtest(source: Source) -> list[RandomItem]:
    texts: dict[int, list[str]] = defaultdict(list)
    foils = Foil.objects.filter(item__in=source.items).exclude(verdict__in=REFUSED)
    for item, text in foils.order_by("item_id", "position").values_list("item_id", "text"):
        texts[item].append(text)
    name = source.subtest.name
    rows = source.items.order_by("pk").values_list("pk", "key", "video__key", "caption__text", "caption", "video")
    return [
        RandomItem(
            name=release_id(name, key),
            key=key.removeprefix(f"{name}:")[:MAX_KEY],
            clip=clip,
            caption=caption,
            negatives=tuple(texts[pk]),
            caption_id=caption_id,
            video_id=video_id,
        )
        for pk, key, clip, caption, caption_id, video_id in rows
    ]


def _of_run(source: Source, n_foils: int) -> list[RandomItem]:
    """Return the first `n_foils` candidates of each caption; accepted ones first, as items take them."""
    texts: dict[int, list[tuple[bool, str]]] = defaultdict(list)
    rows = source.candidates.order_by("group_id", "rank", "pk").values_list("group_id", "text", "state")
    for group, text, state in rows:
        texts[group].append((state != CandidateState.ACCEPTED, text))
    name = source.subtest.name
    usable = _usable(source.subtest.project_id)
    groups = CandidateGroup.objects.filter(run=source.run, caption__in=usable).order_by("pk")
    fields = ("pk", "caption__key", "caption__video__key", "caption__text", "caption", "caption__video")
    return [
        RandomItem(
            name=release_id(name, key),
            key=key.removeprefix(f"{name}:")[:MAX_KEY],
            clip=clip,
            caption=caption,
            negatives=tuple(text for _late, text in sorted(texts[pk], key=lambda late_text: late_text[0])[:n_foils]),
            caption_id=caption_id,
            video_id=video_id,
        )
        for pk, key, clip, caption, caption_id, video_id in groups.values_list(*fields)
    ]


def _true_texts(project: int, videos: set[int]) -> dict[int, set[str]]:
    """Return the captions of each clip, as `plain` compares them, without those that were found false."""
    texts_by_video: dict[int, set[str]] = defaultdict(set)
    rows = Caption.objects.filter(video__project=project).exclude(FOUND_FALSE)
    for video, text in rows.values_list("video_id", "text").iterator():
        if video in videos:
            texts_by_video[video].add(plain(text))
    return texts_by_video


def _options_of_run(source: Source) -> dict[int, list[HardOption]]:
    options_by_caption: dict[int, list[HardOption]] = defaultdict(list)
    fields = ("group__caption", "text", "state", "method", "author", "group")
    for caption, text, state, method, author, group in source.candidates.order_by("pk").values_list(*fields):
        option = HardOption(text, state == CandidateState.ACCEPTED, _made_by(method, author), {}, group)
        options_by_caption[caption].append(option)
    return options_by_caption


def _options_of_items(source: Source) -> dict[int, list[HardOption]]:
    """Return the hard foil of each item; if none of its foils is marked as hard, all of them."""
    usable_foils = Foil.objects.exclude(verdict__in=REFUSED).order_by("position").select_related("candidate")
    rows = (
        source.items.select_related("subtest", "caption")
        .prefetch_related(Prefetch("foils", usable_foils))
        .order_by("pk")
    )
    items = list(rows)
    read = [_candidates(item) for item in items]
    options_by_caption: dict[int, list[HardOption]] = defaultdict(list)
    for item, hard in zip(items, hard_foils(read), strict=True):
        foils = list(item.foils.all())
        indices: Iterable[int] = range(len(foils)) if hard is None else [hard.index] if hard.index >= 0 else []
        options_by_caption[item.caption_id] += [_option(item, foils[index]) for index in indices]
    return options_by_caption


def _candidates(item: Item) -> Candidates:
    foils: Sequence[Foil] = list(item.foils.all())
    texts, positions = tuple(foil.text for foil in foils), [foil.position for foil in foils]
    return Candidates(item.subtest.name, item.caption.text, texts, item.extra, item.known_facts, positions)


def _option(item: Item, foil: Foil) -> HardOption:
    candidate = getattr(foil, "candidate", None)
    facts = _facts_of_foil(item.facts or {}, foil.position)
    if candidate is None:
        return HardOption(foil.text, made_by=str(facts.get("made_by", "")), facts=facts)
    made_by = _made_by(candidate.method, candidate.author_id)
    return HardOption(foil.text, made_by=made_by, facts=facts, group=candidate.group_id)


def _facts_of_foil(facts: Mapping[str, Any], position: int) -> dict[str, Any]:
    """Return the item's facts; of lists with a value per foil, the value of this foil."""
    foil_facts = {name: fact for name, fact in facts.items() if name not in NOT_COPIED}
    for name in OF_EACH_FOIL:
        fact = foil_facts.get(name)
        if isinstance(fact, list):
            foil_facts[name] = fact[position] if position < len(fact) else None
    return foil_facts


def _made_by(method: str, author: int | None) -> str:
    return PERSON if method == PERSON_METHOD or author is not None else MACHINE


def composed_subtests(project: Project) -> list[dict[str, Any]]:
    """Return the subtests with composed items, with the sources of these and their number."""
    rows = Item.objects.filter(project=project, facts__has_key=COMPOSED).order_by("subtest__name")
    names = ("subtest__name", "subtest_id", "facts__composed__from", "facts__composed__hard")
    return [
        {"name": name, "id": pk, "random": random, "hard": hard, "n": n}
        for (name, pk, random, hard), n in Counter(rows.values_list(*names)).items()
    ]


def has_sources(project: Project) -> bool:
    """Return whether the project has anything to compose items of."""
    runs = GenerationRun.objects.filter(project=project)
    return runs.exists() or Item.objects.filter(Q(project=project), subtest__kind=Subtest.Kind.MAIN).exists()
