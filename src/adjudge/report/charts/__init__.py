"""Charts: one file each, a function from a result to a Vega-Lite specification. Nothing is computed here."""
