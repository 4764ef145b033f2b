"""The equations of the mixed model: blocks by document, a border of what reaches across them, and their solution."""
