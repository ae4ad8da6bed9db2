"""Both sides of the Piskvork (Gomocup) protocol: Tengen as an engine, and other engines as players."""
