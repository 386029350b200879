"""Set the options of gunicorn for `foilworks up`, units and containers: `--config
python:foilworks.site.server.web_server`.

A process takes as many requests as it has threads, one per connection. The rest wait in the listening socket (decision
57).
"""

worker_class = "foilworks.site.server.web_worker.DeadlineWorker"
workers = 2
threads = 4
worker_connections = 4
keepalive = 0
graceful_timeout = 30
control_socket_disable = True
