"""Train video-text models with LLM-teacher (Feint6K, Sec. 4.2).

The captions are changed by a language model, so that only distinguishing actions lowers the loss.
"""
