"""Fitting and scoring: which published measurements, what the model says of each, and how the constants were chosen.

Pure functions that return tables. A :class:`Point` is one measured number with the quantities that the equations need
to predict it; :class:`Points` predicts many at once, so that a least-squares fit of calibrated constants takes
seconds. An error is a factor: exp(|log(predicted / measured)|); a bias is the mean log of predicted over measured time.
"""

from rlecon.calibration.decoding import decode_points
from rlecon.calibration.fitting import BOUNDS, Fit, fit
from rlecon.calibration.other_frameworks import (
    assumed_looping,
    inferred_length,
    other_framework_points,
    phase_points,
    prior_length,
    unknown_length_points,
)
from rlecon.calibration.points import Point, Points
from rlecon.calibration.reasons import REASONS, reason
from rlecon.calibration.residuals import (
    coverage,
    guessed_length_sd,
    known_length_sds,
    release_spread,
    residual_sds,
    summary,
)
from rlecon.calibration.stages import (
    DECODE_CONSTANTS,
    PRIORS,
    STEP_CONSTANTS,
    TRAINING_CONSTANTS,
    blind_priors,
    calibrate,
    leave_out,
    source_of,
    sources,
)
from rlecon.calibration.steps import held_out_points, nemo_run, step_point, step_points
from rlecon.calibration.tables import decode_errors, peers, ratios, report
from rlecon.calibration.training import MEGATRON, training_points
from rlecon.interval import Z80

__all__ = [
    "BOUNDS",
    "DECODE_CONSTANTS",
    "Fit",
    "MEGATRON",
    "PRIORS",
    "Point",
    "Points",
    "REASONS",
    "STEP_CONSTANTS",
    "TRAINING_CONSTANTS",
    "Z80",
    "assumed_looping",
    "blind_priors",
    "calibrate",
    "coverage",
    "decode_errors",
    "decode_points",
    "fit",
    "guessed_length_sd",
    "held_out_points",
    "inferred_length",
    "known_length_sds",
    "leave_out",
    "nemo_run",
    "other_framework_points",
    "peers",
    "phase_points",
    "prior_length",
    "ratios",
    "reason",
    "release_spread",
    "report",
    "residual_sds",
    "source_of",
    "sources",
    "step_point",
    "step_points",
    "summary",
    "training_points",
    "unknown_length_points",
]
