"""Pages and API of people and invitations."""
