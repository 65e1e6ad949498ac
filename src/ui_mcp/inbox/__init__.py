"""Questions of agents and hosts to the person: asked by any process, answered once on the person's page."""
