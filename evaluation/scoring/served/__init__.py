"""Score through an endpoint: questions, scores from answers, storage and display."""
