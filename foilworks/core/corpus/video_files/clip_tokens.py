"""Addresses of clips on pages of work: opaque to anyone who works, and different for every task.

A row number would tell how old a clip is, and with it which tasks have a known answer. A token is the clip's number,
the person and the task, encrypted with a key made from SECRET_KEY (AES-SIV, RFC 5297). The same task always has the
same token, so the page that loads the next clip ahead and the page that shows it use one address.
"""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from enum import IntEnum
from functools import lru_cache
from struct import Struct

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESSIV
from django.conf import settings
from django.utils.crypto import salted_hmac

# Clip, person, kind of task, number of the task.
_CONTENT = Struct(">QQBQ")
_TAG_BYTES = 16
_PADDING = "=" * (-(_CONTENT.size + _TAG_BYTES) * 4 // 3 % 4)


class Piece(IntEnum):
    """The kind of task that shows a clip. The values are part of tokens in open pages."""

    SLOT = 1
    QUESTION = 2
    ITEM = 3
    PAIR = 4


def clip_token(video_id: int, person_id: int, piece: Piece, number: int) -> str:
    """Return the token under which the person is served the clip for this task; all tokens are equally long."""
    content = _CONTENT.pack(video_id, person_id, piece, number)
    return urlsafe_b64encode(_cipher(settings.SECRET_KEY).encrypt(content, None)).decode().rstrip("=")


def read_clip_token(token: str, person_id: int) -> int | None:
    """Return the number of the clip; None for what is not a token, or that of somebody else."""
    try:
        content = _cipher(settings.SECRET_KEY).decrypt(urlsafe_b64decode(token + _PADDING), None)
    except (InvalidTag, ValueError):
        return None
    video_id, owner_id, _piece, _number = _CONTENT.unpack(content)
    return video_id if owner_id == person_id else None


@lru_cache(maxsize=2)
def _cipher(secret_key: str) -> AESSIV:
    return AESSIV(salted_hmac("foilworks.clip-tokens", "", secret=secret_key, algorithm="sha512").digest())
