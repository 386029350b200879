"""The parameters with which a crowd platform sends people: Prolific's, or signed with the study's secret."""

import hashlib
import hmac
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from urllib.parse import urlencode

from django.http import HttpRequest
from django.utils.translation import gettext as _

from foilworks.core.projects.errors import AccessDenied, EntryRefused
from foilworks.core.projects.models import CrowdPlace, CrowdStudy, Platform, User
from foilworks.core.projects.models.entry import new_key

PROLIFIC = ("PROLIFIC_PID", "STUDY_ID", "SESSION_ID")
# `session` and `approval` may be left out; everything that is sent is signed.
SIGNED = ("worker", "expires", "nonce", "session", "approval")
NEEDED = ("worker", "expires", "nonce", "signature")
# The maximum lifetime of a link.
MAX_LINK_LIFETIME = timedelta(days=7)
# Ids begin as they like: platforms draw them from the URL-safe letters, where one of 32 begins with - or _.
PLAIN = re.compile(r"[\w.@:+=-]{1,128}", re.ASCII)
# A nonce is only ever hashed. What can be seen, and so comes back from a form as it was.
VISIBLE = re.compile(r"[!-~]{1,128}")
CODE_LETTERS = "ABCDEFGHJKMNPQRSTUVWXYZ23456789"
CODE_LENGTH = 12
# In the session of a person from a crowd study: the key of the place that they entered last, so that other people's
# judgements need no query. True in sessions from before keys were stored.
CROWD_PLACE_KEY = "crowd_place"
# In the session of a person who entered an existing account by unsigned ids, which anyone who reads them on the
# platform could use. They can work, but cannot see, change or delete what is stored about the worker.
UNPROVED = "unproved"


@dataclass(frozen=True)
class Entry:
    """An arriving person: the platform's ids of person and visit; `nonce` of a signed link; `approval` if sent."""

    worker: str
    session: str = ""
    nonce: str = ""
    expires: datetime | None = None
    approval: float | None = None


def signature_of(study: CrowdStudy, parameters: Mapping[str, str]) -> str:
    """HMAC-SHA256, hexadecimal, of `study=KEY&…`: all parameters but `signature`, sorted by name, URL-encoded."""
    signed = {name: value for name, value in parameters.items() if name != "signature"}
    message = urlencode(sorted({**signed, "study": study.key}.items()))
    return hmac.new(study.secret.encode(), message.encode(), hashlib.sha256).hexdigest()


def read_entry(study: CrowdStudy, sent: Mapping[str, str], now: datetime) -> Entry:
    """The entry that the parameters make. EntryRefused for anything forged, foreign or over."""
    return _of_signed(study, sent, now) if is_signed(study, sent) else _of_prolific(study, sent)


def is_signed(study: CrowdStudy, sent: Mapping[str, str]) -> bool:
    """Return whether the parameters must be signed: on Prolific, only those of a return link are."""
    return study.platform != Platform.PROLIFIC or "signature" in sent


def parameters_of(study: CrowdStudy, sent: Mapping[str, str]) -> dict[str, str]:
    """Return those of the parameters that belong to the entry, for a form to repeat."""
    names = (*SIGNED, "signature") if is_signed(study, sent) else PROLIFIC
    return {name: sent[name] for name in names if name in sent}


def return_parameters(crowd_place: CrowdPlace, worker: str, now: datetime) -> dict[str, str]:
    """Return the signed parameters of a link that leads the place's person back to it, once, within a week."""
    sent = {"worker": worker, "expires": str(int((now + MAX_LINK_LIFETIME).timestamp())), "nonce": new_key()}
    if crowd_place.session:
        sent["session"] = crowd_place.session
    return {**sent, "signature": signature_of(crowd_place.study, sent)}


def is_live(expires: datetime, now: datetime) -> bool:
    """Return whether the link has not expired; an end of "never" is rejected."""
    return now < expires <= now + MAX_LINK_LIFETIME


def code_of(crowd_place: CrowdPlace) -> str:
    """Return the completion code: the study's, or the place's own, which nobody can compute."""
    if crowd_place.study.completion_code:
        return crowd_place.study.completion_code
    digest = hmac.new(
        crowd_place.study.secret.encode(), f"completion:{crowd_place.pk}".encode(), hashlib.sha256
    ).digest()
    return "".join(CODE_LETTERS[byte % len(CODE_LETTERS)] for byte in digest[:CODE_LENGTH])


def refused(study: CrowdStudy, why: str) -> EntryRefused:
    words = {
        "parameters": _("The link is incomplete. Open the study on the platform again."),
        "another study": _("The link belongs to a different study. Open this study on the platform again."),
        "signature": _("The link was changed, or was not made for this study. Open the study on the platform again."),
        "expired": _("The link has expired. Open the study on the platform again."),
        "replayed": _(
            "The link was already used. Continue in the browser in which you first opened the study, "
            "or contact its researchers on the platform."
        ),
        "elsewhere": _(
            "You started this study in another browser. Continue there, or ask the researchers to release your place."
        ),
        "session": _("This session belongs to someone else. Open the study on the platform again."),
        "removed": _("The researchers have removed you from this project. Contact them on the platform."),
        "at work": _(
            "You are already in another study of this project. Finish or return that one first. Then open "
            "this study on the platform again."
        ),
        "closed": _("This study is closed. Please return your submission on the platform."),
        "full": _("This study is full. Please return your submission on the platform."),
        "approval": _(
            "This study requires a higher approval rate or accuracy than you have now. Please return your "
            "submission on the platform. This does not count against you."
        ),
        "unfinished": _("You have not finished this study yet. The completion code appears when you have."),
        "code": _("No completed submission of this study has this code."),
    }
    return EntryRefused(words[why], f"crowd {why}", project=study.project, target=study)


def require_proof(request: HttpRequest) -> None:
    """Raise AccessDenied for a person signed in by ids alone, who may be somebody else."""
    if request.session.get(UNPROVED):
        raise AccessDenied(
            _(
                "The platform ID alone does not prove that this account is yours. Contact the researchers "
                "on the platform."
            )
        )


def _of_prolific(study: CrowdStudy, sent: Mapping[str, str]) -> Entry:
    worker, of_study, session = (sent.get(name, "") for name in PROLIFIC)
    if not all(PLAIN.fullmatch(value) for value in (worker, of_study, session)):
        raise refused(study, "parameters")
    if not hmac.compare_digest(of_study, study.platform_study):
        raise refused(study, "another study")
    return Entry(worker, session)


def _of_signed(study: CrowdStudy, sent: Mapping[str, str], now: datetime) -> Entry:
    if any(name not in sent for name in NEEDED) or set(sent) - {*SIGNED, "signature"}:
        raise refused(study, "parameters")
    if not hmac.compare_digest(signature_of(study, sent).encode(), sent["signature"].encode()):
        raise refused(study, "signature")
    # From here on it is the platform that speaks; it may still have it wrong.
    session = sent.get("session", "")
    try:
        expires = datetime.fromtimestamp(int(sent["expires"]), UTC)
        approval = float(sent["approval"]) if "approval" in sent else None
    except (ValueError, OverflowError, OSError) as error:
        raise refused(study, "parameters") from error
    is_plain = all(PLAIN.fullmatch(value) for value in (sent["worker"], session or "none"))
    if not is_plain or not VISIBLE.fullmatch(sent["nonce"]) or (approval is not None and not 0 <= approval <= 1):
        raise refused(study, "parameters")
    if not is_live(expires, now):
        raise refused(study, "expired")
    return Entry(sent["worker"], session, sent["nonce"], expires, approval)


def study_entered_by(person: User) -> CrowdStudy | None:
    """Return the study of the person's last place, unless its project is deleted. One query."""
    crowd_places = CrowdPlace.objects.filter(person=person, study__project__deleted_at=None).order_by("-pk")
    crowd_place = crowd_places.select_related("study__project").first()
    return crowd_place.study if crowd_place is not None else None
