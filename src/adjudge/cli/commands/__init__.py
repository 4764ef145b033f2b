"""The commands, one file each: options and help. What they do is library code; `app.py` lists them."""
