"""Queries of exports, reports and ranking data."""
