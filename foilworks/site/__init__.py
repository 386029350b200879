"""Serve the product: settings, pages of the whole, API, commands, processes, and what stands above the reports."""
