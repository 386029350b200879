"""Which of the candidates that nobody has begun with go on: chosen so that text alone gives little away."""
