"""Language tools behind one interface. All of them work offline.

Only foil methods load them, in jobs and commands: live checks on pages use foilworks.core.text.tokens and
foilworks.core.text.diff. A web process imports nothing from here (tests/test_architecture.py).
"""
