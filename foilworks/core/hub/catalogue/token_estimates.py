"""Estimate the tokens of requests, before a server has counted them."""

# Min characters per token, and tokens per picture and per second of sound.
CHARS_PER_TOKEN, TOKENS_PER_IMAGE, TOKENS_PER_SOUND_SECOND = 3, 1000, 50
