"""Campaign files, the design of tasks, adaptive draws and extensions."""
