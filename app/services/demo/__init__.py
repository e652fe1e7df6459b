"""The demo: its study, its people, and the work they have done so far."""

from topkapi.app.services.demo.loading import Demo, SignIn, is_empty, load_demo, sign_ins

__all__ = ["Demo", "SignIn", "is_empty", "load_demo", "sign_ins"]
