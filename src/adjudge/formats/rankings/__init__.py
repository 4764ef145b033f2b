"""Tables and files of ranks, and rank labels as people wrote them."""
