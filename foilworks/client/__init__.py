"""The client of the API under the name that it has inside Foilworks; alone, it is the package `foilworks_client`."""

from foilworks.client.foilworks_client import ApiError, AsyncClient, Client, Work, is_signed, records, to_pandas

__all__ = ["ApiError", "AsyncClient", "Client", "Work", "is_signed", "records", "to_pandas"]
