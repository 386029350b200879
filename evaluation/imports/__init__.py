"""In and out of the tables: imported records are stored here, releases are collected here for the exporters."""
