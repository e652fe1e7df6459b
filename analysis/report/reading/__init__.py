"""Parts of a study that preference files hold."""
