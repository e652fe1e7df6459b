"""Thin routes, one file a feature: parse, call one service, render."""
