"""Tasks from texts and system outputs: who judges what, with which controls, balanced by construction."""
