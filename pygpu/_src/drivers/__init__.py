"""Answers to the C extensions: where a driver's library is, and what a declaration means."""
