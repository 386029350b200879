"""Check connections to PostgreSQL without a statement (DATABASES["default"]["ENGINE"] =
"foilworks.site.databases.postgresql")."""

import select

from django.db.backends.postgresql import base


class DatabaseWrapper(base.DatabaseWrapper):
    """A connection that sends `SELECT 1` before a request only if the server has said something unasked.

    The end of a connection is such a message: its socket can be read. A server that is gone without a word is found by
    the next statement, as it would be by this one.
    """

    def is_usable(self) -> bool:
        if self.connection is not None and not self.connection.closed:
            poll = select.poll()
            poll.register(self.connection.fileno(), select.POLLIN)
            if not poll.poll(0):
                return True
        return bool(super().is_usable())
