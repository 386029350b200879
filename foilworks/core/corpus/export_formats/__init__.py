"""Records -> files, one file per format; no table is used here."""
