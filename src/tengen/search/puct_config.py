"""Configuration of the PUCT tree search (docs/how/mcts.md) and its presets.

`puct_search` searches one position with it; `puct_self_play` plays many games at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from tengen import _native
from tengen.errors import InputError
from tengen.search.checks import check_range, check_real


class Noise(StrEnum):
    """Where full searches mix in Dirichlet noise."""

    NONE = "none"
    """No noise."""
    ROOT = "root"
    """Into the priors at the root of each search, as in AlphaZero."""
    EVERY = "every"
    """Into the priors at every expansion, as in zero9."""
    CHOICE = "choice"
    """Into the move probabilities, as in AlphaZero_Gomoku; the search and the policy targets get no noise."""


class Symmetry(StrEnum):
    """Board symmetries that are applied to a position before it is evaluated."""

    NONE = "none"
    """The identity only."""
    RANDOM = "random"
    """A random symmetry for each evaluation."""
    AVERAGE = "average"
    """All symmetries; policy and value are averaged. Costs eight evaluations (four on a rectangle)."""


@dataclass(frozen=True, kw_only=True)
class PuctConfig:
    """Options for the tree search and for self-play. The defaults are the plain algorithm without extensions.

    A move's score is Q + c·P·√ΣN / (1 + N), where Q is its mean value, P its prior and N its visit count.
    """

    simulations: int = 500
    """Simulations per move. The evaluation of the root is not counted."""
    c_puct: float = 1.25
    """Exploration constant c; 4 in zero9."""
    c_puct_growth: float = 0.0
    """Growth g of c with the node's visits N: c increases by g·log((1 + N + base) / base)."""
    c_puct_base: float = 500.0
    """Base in the formula for the growth of c."""
    fpu_reduction: float | None = None
    """First-play urgency reduction r: Q of an unvisited move is the parent's mean minus r·√(prior of visited moves).
    None: Q is `first_play_value`."""
    first_play_value: float = 0.0
    """Q of an unvisited move if `fpu_reduction` is None; 1 in the code of zero9's model II, which tries every move."""
    fpu_reduction_root: float = 0.0
    """First-play urgency reduction at the root; used only if `fpu_reduction` is not None."""
    virtual_loss: float = 1.0
    """Virtual loss added per pending visit."""
    leaves: int = 1
    """Maximum number of leaves per tree that wait for the network at the same time."""

    noise: Noise = Noise.NONE
    """Where Dirichlet noise is mixed in: none, root, every or choice. Quick searches (`full_fraction`) use no noise."""
    noise_alpha: float | None = None
    """Dirichlet parameter for each move. None: `noise_alpha_total` divided by the number of moves."""
    noise_alpha_total: float = 10.83
    """Sum of the Dirichlet parameters over all moves if `noise_alpha` is None."""
    noise_fraction: float = 0.25
    """Weight of the noise in the priors or, with `choice`, in the probabilities of the moves."""
    root_temperature: float = 1.0
    """Softmax temperature for the root priors, applied before noise; above 1, it flattens them. Full searches only."""

    solve: bool = False
    """Prove wins, losses and draws in the tree, with their distance (MCTS-solver); proved losses get no more visits."""
    tactics: bool = False
    """Play a five, block a four and resolve lost positions without calling the network. A forced move gets at most 16
    simulations. Needs `solve`."""
    vcf_nodes_leaf: int = 0
    """Node limit for the VCF search at each leaf; 0 disables it. Needs `tactics` and win length 4 or 5."""
    vcf_nodes_root: int = 0
    """Node limit for the VCF search at the root of each search."""
    vct_nodes: int = 0
    """Node limit for the VCT search at positions with at least an eighth of all simulations and at least `vct_visits`
    visits; 0 disables it. Needs `tactics` and win length 4 or 5."""
    vct_visits: int = 16
    """Minimum number of visits for a VCT search."""
    discount: float = 1.0
    """Discount γ per ply: the winning side prefers short wins, the losing side long losses."""

    gumbel: bool = False
    """Choose root moves by Gumbel noise and sequential halving, and train on the improved policy of completed values
    (Danihelka et al. 2022). Replaces visit counts as the policy target, and noise and temperature as exploration."""
    gumbel_candidates: int = 16
    """Number of root moves considered."""
    gumbel_scale: float = 1.0
    """Scale of the Gumbel noise; 0 for the strongest play."""
    gumbel_visit_offset: float = 50.0
    """Offset in the logits (offset + largest visit count)·scale·value, where values are rescaled to [0, 1]."""
    gumbel_value_scale: float = 0.1
    """Scale in the formula of `gumbel_visit_offset`."""

    symmetry: Symmetry = Symmetry.NONE
    """Board symmetries that are applied to a position before it is evaluated."""
    cache_entries: int = 0
    """Number of entries in the evaluation cache, preferably a power of two. Symmetric positions share an entry unless
    `symmetry` is none. An entry takes slightly more than 4·area bytes."""

    reuse_tree: bool = False
    """Keep the subtree below the move played. Cannot be combined with `gumbel`."""
    forced_playouts: float = 0.0
    """Factor k: visited root moves get at least √(k·P·ΣN) visits. Visits that the search would not have made otherwise
    are pruned from the policy target (Wu 2019)."""
    full_fraction: float = 1.0
    """Fraction of moves that get a full search; the others get a quick one, which is not used for training (playout-cap
    randomisation, Wu 2019)."""
    fast_simulations: int = 0
    """Simulations per quick search."""
    temperature: float = 1.0
    """Sampling temperature for self-play moves; 0 plays the most visited move."""
    temperature_plies: int = 1000
    """Number of plies, opening included, after which `temperature_final` replaces `temperature`."""
    temperature_final: float = 0.0
    """Sampling temperature after `temperature_plies`."""
    stop_when_proved: bool = False
    """End self-play games with the proved result once the root is proved. Needs `solve`."""

    def __post_init__(self) -> None:
        check_range("simulations", self.simulations, 1, 10**9)
        for name in ("c_puct", "c_puct_growth", "virtual_loss", "gumbel_scale", "gumbel_visit_offset"):
            check_real(name, getattr(self, name), 0.0, 1e6)
        for name in ("gumbel_value_scale", "forced_playouts", "temperature", "temperature_final"):
            check_real(name, getattr(self, name), 0.0, 1e6)
        check_real("c_puct_base", self.c_puct_base, 1e-6, 1e9)
        for name in ("noise_alpha", "noise_alpha_total"):
            if getattr(self, name) is not None:
                check_real(name, getattr(self, name), 1e-3, 1e3)
        if self.fpu_reduction is not None:
            check_real("fpu_reduction", self.fpu_reduction, 0.0, 10.0)
        check_real("fpu_reduction_root", self.fpu_reduction_root, 0.0, 10.0)
        check_real("first_play_value", self.first_play_value, -1.0, 1.0)
        check_real("noise_fraction", self.noise_fraction, 0.0, 1.0)
        check_real("root_temperature", self.root_temperature, 0.01, 100.0)
        check_real("discount", self.discount, 0.5, 1.0)
        check_real("full_fraction", self.full_fraction, 0.0, 1.0)
        check_range("leaves", self.leaves, 1, 4096)
        for name in ("vcf_nodes_leaf", "vcf_nodes_root", "vct_nodes"):
            check_range(name, getattr(self, name), 0, 10**9)
        check_range("vct_visits", self.vct_visits, 1, 10**9)
        check_range("gumbel_candidates", self.gumbel_candidates, 1, 10_000)
        check_range("cache_entries", self.cache_entries, 0, 1 << 26)
        check_range("temperature_plies", self.temperature_plies, 0, 10**6)
        check_range("fast_simulations", self.fast_simulations, 0, 10**9)
        if self.full_fraction < 1 and self.fast_simulations < 1:
            raise InputError(f"full_fraction={self.full_fraction} requires fast_simulations for the other moves")
        if self.gumbel and self.reuse_tree:
            raise InputError("gumbel cannot be combined with reuse_tree; use cache_entries instead")
        if self.tactics and not self.solve:
            raise InputError("tactics requires solve")
        if (self.vcf_nodes_leaf or self.vcf_nodes_root or self.vct_nodes) and not self.tactics:
            raise InputError("vcf_nodes_leaf, vcf_nodes_root and vct_nodes require tactics")
        if self.stop_when_proved and not self.solve:
            raise InputError("stop_when_proved requires solve")

    def native(self) -> _native.PuctOptions:
        """Return the options for native code."""
        options = _native.PuctOptions()
        for name in _SAME_IN_NATIVE:
            setattr(options, name, getattr(self, name))
        options.fpu_from_parent = self.fpu_reduction is not None
        options.fpu_reduction = self.fpu_reduction or 0.0
        options.noise = _native.RootNoise[Noise(self.noise).name]
        options.noise_alpha = self.noise_alpha or 0.0
        options.symmetry = _native.SymmetryUse[Symmetry(self.symmetry).name]
        return options


_SAME_IN_NATIVE = tuple(
    name
    for name in PuctConfig.__dataclass_fields__
    if name not in ("fpu_reduction", "noise", "noise_alpha", "symmetry")
)

PRESETS: Mapping[str, PuctConfig] = {
    # "Reinforcement Learning for Gomoku": c = 4, noise at every expansion, moves always sampled by visit count.
    "zero9": PuctConfig(simulations=500, c_puct=4.0, noise=Noise.EVERY, noise_alpha=0.3, reuse_tree=True),
    # The same paper, with the settings of its authors' code for their two models.
    "zero9-i": PuctConfig(simulations=500, c_puct=4.0, noise=Noise.EVERY, noise_alpha=1.75, reuse_tree=True),
    "zero9-ii": PuctConfig(
        simulations=500, c_puct=4.0, first_play_value=1.0, noise=Noise.EVERY, noise_alpha=0.3, reuse_tree=True
    ),
    # "AlphaGomoku: Applying AlphaZero to the game of Gomoku" does not report its settings. These are from its code and
    # from the program whose network it uses (AlphaZero_Gomoku): c = 5, 500 simulations, noise on the choice of moves.
    "alphagomoku8": PuctConfig(simulations=500, c_puct=5.0, noise=Noise.CHOICE, noise_alpha=0.3, reuse_tree=True),
    # All options that improve playing strength.
    "best": PuctConfig(
        c_puct=1.1,
        c_puct_growth=0.45,
        fpu_reduction=0.2,
        solve=True,
        tactics=True,
        vcf_nodes_leaf=100,
        vcf_nodes_root=20_000,
        vct_nodes=500,
        symmetry=Symmetry.RANDOM,
        cache_entries=1 << 16,
        reuse_tree=True,
        temperature=0.0,
        discount=0.995,
    ),
}
"""Configurations by name. Those from the papers use no extensions; training and agents override single fields."""
