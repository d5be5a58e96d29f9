"""The unit walker: what it passes, what it refuses, and every equation of the package."""

import pytest
import sympy as sp

from rlecon import formulary, units
from rlecon import vocabulary as v
from rlecon.equation import EQUATIONS
from rlecon.errors import RleconError

formulary.load()


@pytest.mark.parametrize("name", sorted(EQUATIONS))
def test_every_equation_has_one_unit(name):
    EQUATIONS[name].check_units()


def test_parse_drops_labels_and_keeps_dimensions():
    assert units.parse("FLOP/(token token)") == (("FLOP", 1), ("token", -2))
    assert units.parse("rollout/prompt") == ()
    assert units.parse("token^2") == (("token", 2),)
    with pytest.raises(RleconError, match="furlong"):
        units.parse("furlong/s")


@pytest.mark.parametrize(
    "left, right",
    [
        (v.step_seconds, v.prompt_tokens),
        (v.step_seconds, v.rollout_seconds + v.prompt_tokens),
        (v.step_seconds, sp.Max(v.rollout_seconds, v.prompt_tokens)),
        (v.step_seconds, sp.exp(v.rollout_seconds)),
        (v.step_seconds, sp.Piecewise((v.rollout_seconds, v.turns > 1), (v.turns, True))),
        (v.step_seconds, sp.Piecewise((v.rollout_seconds, v.turns > v.prompt_tokens), (v.step_seconds, True))),
        (v.gpu_hours_per_step, v.gpus * v.step_seconds),
        (v.kv_bytes_per_token, v.kv_elements_per_token * v.kv_bits),
        (v.step_seconds, v.rollout_seconds**2),
        (v.step_seconds, v.rollout_seconds**v.turns),
        (v.step_seconds, sp.Symbol("undeclared", real=True)),
        (v.step_seconds, sp.sin(v.turns) * v.rollout_seconds),
    ],
)
def test_slips_are_refused(left, right):
    with pytest.raises(RleconError):
        units.check(left, right)


def test_zero_and_infinity_fit_every_unit():
    units.check(v.step_seconds, sp.Max(0, v.rollout_seconds))
    units.check(v.step_seconds, sp.Min(sp.oo, v.rollout_seconds))
