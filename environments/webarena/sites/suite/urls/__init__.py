"""One url configuration a site."""
