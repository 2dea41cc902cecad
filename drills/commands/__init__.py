"""One command a module; each is imported only when it is called."""
