"""What a crowd platform sends people with: Prolific's parameters, or such as are signed with the study's secret."""

import hashlib
import hmac
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from urllib.parse import urlencode

from django.http import HttpRequest
from django.utils.translation import gettext as _

from projects.errors import AccessDenied, EntryRefused
from projects.models import CrowdPlace, CrowdStudy, Platform

PROLIFIC = ("PROLIFIC_PID", "STUDY_ID", "SESSION_ID")
# `session` and `approval` may be left out; everything that is sent is signed.
SIGNED = ("worker", "expires", "nonce", "session", "approval")
NEEDED = ("worker", "expires", "nonce", "signature")
# What one link is good for at most.
MAX_LINK_LIFETIME = timedelta(days=7)
# Ids begin as they like: platforms draw them from the URL-safe letters, where one of 32 begins with - or _.
PLAIN = re.compile(r"[\w.@:+=-]{1,128}", re.ASCII)
# A nonce is only ever hashed. What can be seen, and so comes back from a form as it was.
VISIBLE = re.compile(r"[!-~]{1,128}")
CODE_LETTERS = "ABCDEFGHJKMNPQRSTUVWXYZ23456789"
CODE_LENGTH = 12
# In the session of who came by a crowd study, so that nobody else's judgement asks for a place: the key of the one that
# they came to last. True in sessions from before a key was kept.
CROWD_PLACE_KEY = "crowd_place"
# In the session of who came to an account that was there before by ids that nobody signed: whoever reads them on the
# platform could have. They may work; what is stored of the worker is not shown to them, changed or taken out.
UNPROVED = "unproved"


@dataclass(frozen=True)
class Entry:
    """Who arrives: the platform's ids of person and visit; `nonce` of a signed link; `approval` where it sends one."""

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
    return _of_prolific(study, sent) if study.platform == Platform.PROLIFIC else _of_signed(study, sent, now)


def parameters_of(study: CrowdStudy, sent: Mapping[str, str]) -> dict[str, str]:
    """Those of the parameters that belong to the entry: a form hands them on."""
    names = PROLIFIC if study.platform == Platform.PROLIFIC else (*SIGNED, "signature")
    return {name: sent[name] for name in names if name in sent}


def is_live(expires: datetime, now: datetime) -> bool:
    """Whether a link that says when it ends holds still: one that says "never" does not."""
    return now < expires <= now + MAX_LINK_LIFETIME


def code_of(place: CrowdPlace) -> str:
    """What who has done the work is shown: the study's code, or one of the place's own that nobody can work out."""
    if place.study.completion_code:
        return place.study.completion_code
    digest = hmac.new(place.study.secret.encode(), f"completion:{place.pk}".encode(), hashlib.sha256).digest()
    return "".join(CODE_LETTERS[byte % len(CODE_LETTERS)] for byte in digest[:CODE_LENGTH])


def refused(study: CrowdStudy, why: str) -> EntryRefused:
    words = {
        "parameters": _("This link lacks what the platform sends with it; open the study on the platform again."),
        "another study": _("This link is of another study; open this one on the platform again."),
        "signature": _("This link was not made for this study, or was changed; open the study on the platform again."),
        "expired": _("This link has expired; open the study on the platform again."),
        "replayed": _("This link was used before; open the study on the platform again, or write to its researchers."),
        "elsewhere": _(
            "Your place in this study was taken in another browser; go on there, or ask its researchers to free it."
        ),
        "session": _("This visit belongs to somebody else; open the study on the platform again."),
        "removed": _("The researchers have ended your part in this project; write to them on the platform."),
        "at work": _(
            "You have a place in another study of this work: finish or return that one first, then open this study on "
            "the platform again."
        ),
        "closed": _("This study is closed; please return your place on the platform."),
        "full": _("All places of this study are taken; please return your place on the platform."),
        "approval": _(
            "This study asks for a higher rate of approved or right answers than yours is now; please return your "
            "place on the platform. Nothing is held against you for it."
        ),
        "unfinished": _("The work of this study is not done yet: the code is shown when it is."),
        "code": _("No place of this study that is completed has this code."),
    }
    return EntryRefused(words[why], f"crowd {why}", project=study.project, target=study)


def require_proof(request: HttpRequest) -> None:
    """AccessDenied for who is signed in by ids alone, and may be somebody else."""
    if request.session.get(UNPROVED):
        raise AccessDenied(
            _(
                "The platform's id alone does not prove that this account is yours; write to the researchers on the "
                "platform."
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
    plain = all(PLAIN.fullmatch(value) for value in (sent["worker"], session or "none"))
    if not plain or not VISIBLE.fullmatch(sent["nonce"]) or (approval is not None and not 0 <= approval <= 1):
        raise refused(study, "parameters")
    if not is_live(expires, now):
        raise refused(study, "expired")
    return Entry(sent["worker"], session, sent["nonce"], expires, approval)
