"""Kept for programs that import pygpu.core.methods; nothing else is here."""
