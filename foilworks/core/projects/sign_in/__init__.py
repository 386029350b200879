"""Let people in: passwords, second factor, identity provider, sessions."""
