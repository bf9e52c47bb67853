"""Kernel texts that are filled in: the skeletons of device algorithms in the common language."""
