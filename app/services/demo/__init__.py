"""The demo: its study, its accounts, and their simulated work."""

from topkapi.app.services.demo.loading import Demo, SignIn, is_empty, load_demo, sign_ins
