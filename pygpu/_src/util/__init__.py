"""Helpers that know nothing of devices."""
