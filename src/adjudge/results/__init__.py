"""Result classes: mostly one module per command, frozen, with settings, seed and signature."""
