"""Test whether an engine follows the Piskvork protocol, and report what its author should change."""
