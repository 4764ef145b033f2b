"""What each verb returns: one module per verb, frozen, with settings, seed and signature."""
