"""Run the web processes: gunicorn's options, its worker, outages of the database."""
