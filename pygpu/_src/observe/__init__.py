"""What a program looks at its own work with: times, logs of commands, memory, and tuned sizes."""
