"""Safe copies of a home: its database, its media, its key; made whole or not at all, checked before they come back."""
