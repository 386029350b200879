"""LLM-teacher (Feint6K, Sec. 4.2): train video-text models on captions that a language model has changed, so that only
telling actions apart lowers the loss."""
