"""What the demo's accounts share; they work on the machine that runs the program only."""

DEMO_PASSWORD = "tulips-and-tiles"
