"""Tools for a program to observe its own work: times, logs of commands, memory, and tuned sizes."""
