"""SQLite whose writers wait their turn instead of asking again and again whether it is theirs."""
