"""Serve the product: settings, pages, API, commands and processes, and the rooms above the reports."""
