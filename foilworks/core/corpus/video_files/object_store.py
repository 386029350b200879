"""Videos in an S3-compatible store (STORAGE_URL=s3://…): django-storages, with errors of files and signed addresses.

What the store or the way to it refuses comes out as OSError with its reason, as from a disk; what is not there as
FileNotFoundError. An object's name is made from its content, so one that is written again is the same.
"""

import errno
import posixpath
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from functools import cached_property
from typing import IO, Any

from boto3.exceptions import Boto3Error
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError
from storages.backends.s3 import S3Storage

# Stores of others than Amazon refuse what these are about; content is checked by its own hash where it is read.
CHECKSUMS = {"request_checksum_calculation": "when_required", "response_checksum_validation": "when_required"}
TIMEOUTS = {"connect_timeout": 5, "read_timeout": 60, "retries": {"mode": "standard", "total_max_attempts": 4}}
# Of an object that is sent on to a browser.
PART_BYTES = 256 * 1024
# Of a file that is read through Django; larger ones go by the disk.
IN_MEMORY_BYTES = 8 * 1024 * 1024


class ObjectStore(S3Storage):
    """`public_url`: where browsers reach the store, if it is not where the servers do."""

    def __init__(self, *, public_url: str, addressing_style: str, **options: Any) -> None:
        self.public_url = public_url
        config = Config(signature_version="s3v4", s3={"addressing_style": addressing_style}, **CHECKSUMS, **TIMEOUTS)
        super().__init__(
            client_config=config, default_acl=None, file_overwrite=True, max_memory_size=IN_MEMORY_BYTES, **options
        )

    def exists(self, name: str) -> bool:
        with _store_errors(name):
            return bool(super().exists(name))

    def delete(self, name: str) -> None:
        with _store_errors(name):
            super().delete(name)

    def listdir(self, name: str) -> tuple[list[str], list[str]]:
        with _store_errors(name):
            folders, files = super().listdir(name)
            return folders, files

    def size(self, name: str) -> int:
        with _store_errors(name):
            return int(super().size(name))

    def get_modified_time(self, name: str) -> Any:
        with _store_errors(name):
            return super().get_modified_time(name)

    def _open(self, name: str, mode: str = "rb") -> Any:
        with _store_errors(name):
            # What is read is fetched here, not at the first read.
            file = super()._open(name, mode)
            return file.open() if "r" in mode else file

    def _save(self, name: str, content: Any) -> str:
        with _store_errors(name):
            return str(super()._save(name, content))

    def download(self, name: str, file: IO[bytes]) -> None:
        """Write the object's bytes into `file`, a part at a time."""
        with _store_errors(name):
            self.bucket.download_fileobj(self._normalize_name(name), file)

    def read_range(self, name: str, start: int, end: int) -> Iterator[bytes]:
        """Yield the object's bytes from `start` to `end`, both inclusive, a part at a time."""
        with _store_errors(name):
            reply = self.bucket.Object(self._normalize_name(name)).get(Range=f"bytes={start}-{end}")
            yield from reply["Body"].iter_chunks(PART_BYTES)

    def names(self) -> Iterator[tuple[str, int]]:
        """(name, bytes) of every object below the prefix."""
        prefix = f"{self.location.rstrip('/')}/" if self.location else ""
        with _store_errors("the bucket"):
            for stored_object in self.bucket.objects.filter(Prefix=prefix):
                yield posixpath.relpath(stored_object.key, prefix or "."), stored_object.size

    def signed_url(self, name: str, parameters: dict[str, str], *, method: str = "GET") -> str:
        """An address that gives the object, answers with those headers, and ends by itself; nothing is asked."""
        request_parameters = {**parameters, "Bucket": self.bucket_name, "Key": self._normalize_name(name)}
        return str(
            self._signer.generate_presigned_url(
                "get_object", Params=request_parameters, ExpiresIn=self.querystring_expire, HttpMethod=method
            )
        )

    def begin_parts(self, name: str) -> str:
        """Begin an object that arrives in parts, and return the store's name of the upload."""
        with _store_errors(name):
            return str(self._client.create_multipart_upload(**self._object(name))["UploadId"])

    def part_address(self, name: str, upload_id: str, number: int, size: int) -> str:
        """Return an address that takes one part of so many bytes by PUT, and ends by itself; numbers count from 1."""
        fields = {**self._object(name), "UploadId": upload_id, "PartNumber": number, "ContentLength": size}
        return str(self._signer.generate_presigned_url("upload_part", Params=fields, ExpiresIn=self.querystring_expire))

    def part_sizes(self, name: str, upload_id: str) -> dict[int, int]:
        """Return the bytes of each part that has arrived, by its number. FileNotFoundError: no such upload."""
        return {part["PartNumber"]: part["Size"] for part in self._parts(name, upload_id)}

    def complete_parts(self, name: str, upload_id: str) -> None:
        """Join the parts. FileNotFoundError: no such upload."""
        parts = [{key: part[key] for key in ("PartNumber", "ETag")} for part in self._parts(name, upload_id)]
        with _store_errors(name):
            self._client.complete_multipart_upload(
                **self._object(name), UploadId=upload_id, MultipartUpload={"Parts": parts}
            )

    def remove_parts(self, name: str, upload_id: str) -> None:
        """Remove an upload with its parts, or the object that they have become."""
        try:
            with _store_errors(name):
                self._client.abort_multipart_upload(**self._object(name), UploadId=upload_id)
        except FileNotFoundError:
            self.delete(name)

    def remove_old_parts(self, folder: str, before: datetime) -> int:
        """Remove the uploads and objects of a folder that began before this moment, and return how many."""
        prefix = f"{self._normalize_name(folder)}/"
        with _store_errors(folder):
            uploads = self._client.list_multipart_uploads(Bucket=self.bucket_name, Prefix=prefix).get("Uploads", [])
            old = [upload for upload in uploads if upload["Initiated"] < before]
            for upload in old:
                self._client.abort_multipart_upload(
                    Bucket=self.bucket_name, Key=upload["Key"], UploadId=upload["UploadId"]
                )
            objects = [stored for stored in self.bucket.objects.filter(Prefix=prefix) if stored.last_modified < before]
            for stored in objects:
                stored.delete()
        return len(old) + len(objects)

    def _parts(self, name: str, upload_id: str) -> list[dict[str, Any]]:
        with _store_errors(name):
            pages = self._client.get_paginator("list_parts").paginate(**self._object(name), UploadId=upload_id)
            return [part for page in pages for part in page.get("Parts", [])]

    def _object(self, name: str) -> dict[str, str]:
        return {"Bucket": self.bucket_name, "Key": self._normalize_name(name)}

    @property
    def _client(self) -> Any:
        return self.connection.meta.client

    @cached_property
    def _signer(self) -> Any:
        """A client of its own: a signature counts for the host that the browser asks."""
        session = self._create_session()
        return session.client(
            "s3", region_name=self.region_name, endpoint_url=self.public_url, config=self.client_config
        )

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in super().__getstate__().items() if name != "_signer"}


@contextmanager
def _store_errors(name: str) -> Iterator[None]:
    """What boto says, as an error of a file."""
    try:
        yield
    except ClientError as error:
        details = error.response.get("Error", {})
        status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode")
        if status == 404 and details.get("Code") != "NoSuchBucket":
            raise FileNotFoundError(errno.ENOENT, "there is no such object", name) from error
        reason = f"the object store rejected the request: {details.get('Code')}, {details.get('Message', '')}".rstrip(
            ", "
        )
        raise OSError(errno.EACCES, reason, name) from error
    except (BotoCoreError, Boto3Error) as error:
        raise OSError(errno.EIO, f"the object store is not reachable: {error}", name) from error
