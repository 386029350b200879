"""Models behind OpenAI-compatible endpoints: pace of requests, budgets, wire format, reading of answers."""
