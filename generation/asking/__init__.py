"""What instruction models are asked and what they answered: prompts, endpoints, kept answers."""
