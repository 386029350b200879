"""Text-to-text models tuned on a project's captions: what one takes, the job, its curve."""
