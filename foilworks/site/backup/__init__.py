"""Back up and restore a home: database, media, key; completely or not at all, checked before a restore."""
