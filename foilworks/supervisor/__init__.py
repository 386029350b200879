"""Starts, watches and stops the processes of one home: the embedded Redis, the workers and the web server."""
