"""Language tools behind one interface. All of them work offline.

Only foil methods load them, in jobs and commands: live checks on pages use text.tokens and text.diff. A web
process imports nothing from here (tests/test_architecture.py).
"""
