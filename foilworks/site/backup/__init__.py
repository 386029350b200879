"""Back up and restore a home: database, media, key; all or nothing, checked before a restore."""
