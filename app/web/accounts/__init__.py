"""Sign-in, sign-out, and the account behind a token."""
