"""Query instruction models: prompts, endpoints, stored answers."""
