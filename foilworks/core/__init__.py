"""Hold what the three apps share: texts, videos, models, jobs, people and captions."""
