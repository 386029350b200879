"""Start, watch and stop the processes of one home: the embedded Redis, the workers and the web server."""
