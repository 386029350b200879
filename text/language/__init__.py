"""Language tools behind one door; all of them work offline.

Loaded by foil methods, so by jobs and commands only: live checks on pages use text.tokens and text.diff. A web
process imports nothing from here (tests/test_architecture.py).
"""
