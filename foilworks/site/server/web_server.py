"""Set the options of gunicorn for `foilworks up`, units and containers: `--config
python:foilworks.site.server.web_server`.

A process answers as many requests as it has threads, one per connection. The rest wait in the listening socket
(decision 57). Requests are received whole before a thread takes them (decision 144).
"""

worker_class = "foilworks.site.server.web_worker.ReceivingWorker"
workers = 2
threads = 4
worker_connections = 4
keepalive = 0
graceful_timeout = 30
control_socket_disable = True
