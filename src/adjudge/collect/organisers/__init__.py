"""The organisers' page: its JSON interface and what it shows."""
