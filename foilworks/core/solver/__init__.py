"""Solve a benchmark without its videos: how many of its questions do the texts and the file give away?"""
