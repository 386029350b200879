"""File -> records, one file a format; no table is touched here."""
