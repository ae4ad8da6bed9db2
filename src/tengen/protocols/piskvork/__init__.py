"""The Piskvork (Gomocup) protocol, both sides: Tengen as an engine, and other engines as players."""
