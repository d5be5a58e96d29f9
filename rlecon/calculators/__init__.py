"""What each live calculator of the book shows: a model, what it answers, what a reader may turn, and how far.

Nothing is computed here. A :class:`Calculator` names equations of the package; ``book/_ext/calculator.py`` compiles
them to JavaScript and draws the first picture, ``book/assets/calculator.js`` turns the dials. A chapter's calculator
has the chapter's name and stands in the module of its part:

=================  =============================================================
``accounting``     the first page; tokenomics, gpu-hours, bits-per-token
``cost_drivers``   exploration-hardness to environments
``optimizations``  inference-stack to stack
``your_run``       read-your-bill, cost-to-target, validation
``whole_bill``     ``bill`` of price-your-run, ``bill-short`` of the first page
``outlook``        breadth, what-comes-next
=================  =============================================================

To add one, write a function under ``@calculator`` and put ```` ```{calculator} its-name ```` into a chapter::

    @calculator("its-name")
    def its_name():
        return Calculator(
            title="What one bit costs",
            model=Model([information.entropy_equation, information.token_equation_of_mine]),
            outputs=(Output("bits_per_token", "Bits per token", "bits"),),       # the first one is shown large
            dials=(dial("pass_rate", "Pass rate", 0.3, stops(0.01, 0.99, 0.3), unit="%"),),
            fixed={"response_tokens": 4000.0}, sources={"response_tokens": "assumed"},
            over="pass_rate", words=((True, "A token teaches {bits_per_token|bits|2}."),),
        )

For a calculator on a whole run, :func:`of_run` takes run-file keys instead of quantities and fills the rest from the
catalogue and the defaults. ``parts`` holds the kinds of things that a calculator is made of, ``shelf`` all of them.
"""

from __future__ import annotations

from rlecon.calculators import accounting, cost_drivers, optimizations, outlook, whole_bill, your_run
from rlecon.calculators.on_run import of_run, run_of
from rlecon.calculators.parts import Choice, Dial, Lever, Output, Preset, Table, dial, stops
from rlecon.calculators.runs import AGENT, AGENT_32B, CAPPED, CAPPED_PRESETS, FRONTIER, LONG, MATH_8B, PRESETS, SPINE
from rlecon.calculators.shelf import CALCULATORS, Calculator, calculator
from rlecon.calculators.whole_bill import ABSENT, BILL_PRESETS, UNPRICED

ROOMS = (accounting, cost_drivers, optimizations, your_run, whole_bill, outlook)  # each puts its own on the shelf

__all__ = [
    "ABSENT", "AGENT", "AGENT_32B", "BILL_PRESETS", "CALCULATORS", "CAPPED", "CAPPED_PRESETS", "FRONTIER", "LONG",
    "MATH_8B", "PRESETS", "ROOMS", "SPINE", "UNPRICED", "Calculator", "Choice", "Dial", "Lever", "Output", "Preset",
    "Table", "calculator", "dial", "of_run", "run_of", "stops",
]  # fmt: skip
