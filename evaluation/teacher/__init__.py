"""LLM-teacher (Feint6K, Ma et al., ECCV 2024, section 4.2): video-text models trained on captions that a language model
has changed, so that telling actions apart is what lowers the loss."""
