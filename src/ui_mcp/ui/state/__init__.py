"""What survives of a session when its process is killed: the state of its apps."""
