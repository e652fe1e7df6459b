"""Accounts: users, invitations, passwords, sign-in and tokens."""
