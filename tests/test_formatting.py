"""Numbers as a reader would write them."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp
from hypothesis import given
from hypothesis import strategies as st

from rlecon import formatting
from rlecon.errors import RleconError

NBSP = "\N{NO-BREAK SPACE}"


@pytest.mark.parametrize(
    ("value", "unit", "digits", "text"),
    [
        (1_234_567.0, "usd", 2, "$1.2 M"),
        (2.5, "usd", 3, "$2.50"),
        (0.05, "usd", 2, "$0.050"),
        (412.4, "usd", 3, "$412"),
        (999_600.0, "usd", 3, "$1.00 M"),
        (-3.0e9, "usd", 2, "\N{MINUS SIGN}$3.0 B"),
        (64, "usd", 3, "$64"),
        (4_100_000.0, "tokens", 2, "4.1 M tokens"),
        (32_768, "tokens", 3, "32,768 tokens"),
        (15e12, "tokens", 2, "15 T tokens"),
        (0.372, "%", 2, "37 %"),
        (0.9994, "%", 3, "99.9 %"),
        (1 / 0.19, "x", 3, "5.26×"),
        (84.2, "seconds", 2, "84 s"),
        (0.0213, "seconds", 3, "21.3 ms"),
        (4.4e-5, "seconds", 2, "44 μs"),
        (300.0, "seconds", 2, "5.0 min"),
        (9000.0, "seconds", 3, "2.50 h"),
        (864_000.0, "seconds", 2, "10 days"),
        (147_456, "bytes", 3, "147 kB"),
        (80e9, "bytes", 2, "80 GB"),
        (9.89e14, "flop/s", 3, "989 TFLOP/s"),
        (0.0, "bits", 3, "0 bits"),
        (3.2e-7, "", 2, "3.2 × 10⁻⁷"),
        (np.float64(2.0), "", 2, "2.0"),
        (np.int64(8), "prompts", 3, "8 prompts"),
        (sp.Rational(1, 3), "", 3, "0.333"),
        ("a word", "", 3, "a word"),
        ((1.0, 2.0), "seconds", 2, "1.0 s to 2.0 s"),
        ((1.0, 1.5, 2.0), "x", 2, "1.5× (1.0× to 2.0×)"),
    ],
)
def test_a_number_is_written_as_a_reader_would(value, unit, digits, text):
    assert formatting.format_value(value, unit, digits).replace(NBSP, " ") == text


@pytest.mark.parametrize("digits", [0, 7])
def test_digits_stay_within_what_processors_agree_on(digits):
    with pytest.raises(RleconError, match="digits"):
        formatting.format_number(1.0, "", digits)


@given(
    st.floats(min_value=1e-12, max_value=1e25),
    st.integers(1, 6),
    st.sampled_from(["", "usd", "tokens", "bytes", "x"]),
)
def test_the_text_reads_back_to_the_value(value, digits, unit):
    """Whatever prefix is chosen, the number that a reader reads is the value, rounded to the digits."""
    text = formatting.format_number(value, unit, digits).replace(NBSP, "").replace(",", "").replace("tokens", "")
    text = text.strip("$").rstrip("×") if unit in ("usd", "x") else text
    power = 0
    if "×10" in text:
        text, raised = text.split("×10")
        digits_only = "".join(c for c in raised if c in "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
        power = int(digits_only.translate(str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")))
        text += raised[len(digits_only) :]
    text = text.removesuffix("B") if unit == "bytes" else text
    scale = {"k": 3, "M": 6, "B": 9, "G": 9, "T": 12, "P": 15, "E": 18, "Z": 21, "Y": 24, "m": -3, "μ": -6, "n": -9}
    if text[-1] in scale:
        power, text = power + scale[text[-1]], text[:-1]
    assert float(text) * 10.0**power == pytest.approx(value, rel=0.51 * 10 ** (1 - digits))
