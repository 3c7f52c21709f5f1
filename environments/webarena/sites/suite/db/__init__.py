"""Django's sqlite backend, pointed at the file of the running request's session."""
