"""Quality control of annotators, and agreement within and between them."""
