"""Publish releases: public pages, their archives, and scores that visitors submit."""
