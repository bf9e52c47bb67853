"""Helpers that do not depend on devices."""
