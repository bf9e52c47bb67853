"""What the C extensions ask: where a driver's library is, and what a declaration says."""
