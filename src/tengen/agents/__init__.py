"""All players behind one interface, made by name (`tengen.agents.registry.make_agent`)."""
