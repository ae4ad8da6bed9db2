"""All players behind one interface, created by name (`tengen.agents.registry.make_agent`)."""
