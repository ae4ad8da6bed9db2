"""Conversion between the enums of `tengen.core.contracts` and those of native code.

Native code defines the numbers (`cpp/core/types.h`). Members are matched by name; a name that only one side knows fails
at import.
"""

from __future__ import annotations

from tengen import _native
from tengen.core.contracts import Colour, Foul, Outcome, Proof, Rule

# Native enums are integers: the keys also match the numbers in native arrays.
_COLOURS: dict[int, Colour] = {native: Colour[native.name] for native in _native.Colour}
_OUTCOMES: dict[int, Outcome] = {native: Outcome[native.name] for native in _native.Outcome}
_FOULS: dict[int, Foul | None] = {
    native: None if native is _native.Foul.NONE else Foul[native.name] for native in _native.Foul
}
_NATIVE_COLOURS = {colour: _native.Colour[colour.name] for colour in Colour}
_NATIVE_RULES = {rule: _native.Rule[rule.name] for rule in Rule}


def colour_from_native(native: int) -> Colour:
    """Return the colour that native code means."""
    return _COLOURS[native]


def colour_to_native(colour: Colour) -> _native.Colour:
    """Return the native counterpart of a colour; it is also the index of the colour in native arrays."""
    return _NATIVE_COLOURS[colour]


def rule_to_native(rule: Rule) -> _native.Rule:
    """Return the native counterpart of a rule."""
    return _NATIVE_RULES[rule]


def outcome_from_native(native: int) -> Outcome:
    """Return the outcome that native code, or an entry of a native array, means."""
    return _OUTCOMES[native]


def foul_from_native(native: int) -> Foul | None:
    """Return the foul that native code means, None for no foul."""
    return _FOULS[native]


def proof_from_native(result: _native.ProofResult, plies: int) -> Proof | None:
    """Return what a native search has proved, None when it has proved nothing."""
    return None if result is _native.ProofResult.UNKNOWN else Proof(result.name.lower(), plies)
