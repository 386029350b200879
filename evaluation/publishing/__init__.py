"""What leaves the house with a release: its papers, tables that can be computed again, its public page."""
