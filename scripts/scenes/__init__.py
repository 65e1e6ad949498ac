"""What `make media` films, one module each with a `SCENE`."""
