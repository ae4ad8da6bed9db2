"""Conversion between the enums of `tengen.core.contracts` and those of native code.

Native code defines the numbers (`cpp/core/types.h`). Members are matched by name; a name that exists on one side only
is an error at import.
"""

from __future__ import annotations

from tengen import _native
from tengen.core.contracts import Colour, Foul, Outcome, Proof, Rule

# The keys are plain integers: they match both native enums, which are integers, and entries of native arrays.
# Comparing an array entry with an enum would be slow.
_COLOURS = {int(native): Colour[native.name] for native in _native.Colour}
_OUTCOMES = {int(native): Outcome[native.name] for native in _native.Outcome}
_FOULS = {int(native): None if native is _native.Foul.NONE else Foul[native.name] for native in _native.Foul}
_NATIVE_COLOURS = {colour: _native.Colour[colour.name] for colour in Colour}
_NATIVE_RULES = {rule: _native.Rule[rule.name] for rule in Rule}


def colour_from_native(native: int) -> Colour:
    """Convert a native colour, or an entry of a native array of colours."""
    return _COLOURS[native]


def colour_to_native(colour: Colour) -> _native.Colour:
    """Convert a colour to the native enum, which is also the index of the colour in native arrays."""
    return _NATIVE_COLOURS[colour]


def rule_to_native(rule: Rule) -> _native.Rule:
    """Convert a rule to the native enum."""
    return _NATIVE_RULES[rule]


def outcome_from_native(native: int) -> Outcome:
    """Convert a native outcome, or an entry of a native array of outcomes."""
    return _OUTCOMES[native]


def foul_from_native(native: int) -> Foul | None:
    """Convert a native foul; None for no foul."""
    return _FOULS[native]


def proof_from_native(result: _native.ProofResult, plies: int) -> Proof | None:
    """Convert the proof from a native search; None if it has proved nothing."""
    return None if result is _native.ProofResult.UNKNOWN else Proof(result.name.lower(), plies)
