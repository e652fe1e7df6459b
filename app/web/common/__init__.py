"""What all features of the web layer share."""
