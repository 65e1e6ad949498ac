"""Takes what the person points at to the agent: element, place in the sources, picture and the person's words."""
