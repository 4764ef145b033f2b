"""One module per file format or family of formats; `registry` names them all."""
