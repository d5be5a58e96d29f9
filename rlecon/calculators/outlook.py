"""Calculators of the part "Outlook"."""

from __future__ import annotations

from rlecon import breadth, catalog, environment_cost, horizon
from rlecon.calculators.parts import Output, Preset, dial, q, stops
from rlecon.calculators.shelf import Calculator, calculator
from rlecon.equation import Model


@calculator("breadth")
def breadth_of_tasks():
    """How much of what is common to all tasks a number of tasks teaches, and what the tasks cost."""
    tasks = (1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0, 24.0, 32.0, 64.0, 128.0, 256.0, 512.0, 1024.0, 4096.0, 16384.0)
    return Calculator(
        title="What different tasks teach in common",
        model=Model([breadth.alignment_equation, breadth.transfer_equation, environment_cost.share_equation]),
        outputs=(
            Output("aligned_share", "Common part that is learned", "%", 3, log=False),
            Output("transfer_correlation", "Correlation with a new task", "", 3, log=False),
            Output("task_usd_per_run", "Tasks, per run that uses them", "usd", 3),
        ),
        dials=(
            dial("tasks", "Different tasks", 16.0, tasks),
            dial("shared_share", "Share that all tasks have in common", 0.5, stops(0.01, 0.99, 0.05, 0.5, log=False),
                 unit="%"),
            dial("usd_per_usable_task", "Price of a task", 20.0, stops(0.1, 1000, 20), unit="$", log=True),
            dial("runs", "Runs that share the tasks", 1.0, (1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0)),
        ),
        over="tasks",
        presets=(
            Preset("one task", {"tasks": 1.0}),
            Preset("sixteen tasks", {"tasks": 16.0}),
            Preset("tasks with little in common", {"tasks": 16.0, "shared_share": 0.05}),
            Preset("little in common, many tasks", {"tasks": 1024.0, "shared_share": 0.05}),
        ),
        formula=("aligned_share", "transfer_correlation"),
        words=(
            (q("aligned_share") < 0.5,
             "{tasks||4} tasks teach {aligned_share|%|2} of what is common: most of what is learned belongs to them "
             "alone. More bits on the same tasks do not change that."),
            (True, "{tasks||4} tasks teach {aligned_share|%|2} of what is common to all; a new task still correlates "
                   "with it by {transfer_correlation||2} only, since the rest of it is its own."),
        ),
    )  # fmt: skip


@calculator("what-comes-next")
def what_comes_next():
    """Bits per dollar, later over now, as tasks grow longer and tokens cheaper."""
    slow, middle, fast = map(float, catalog.measurement("metr_doubling_days").value)
    return Calculator(
        title="Bits per dollar, carried forward",
        model=Model([horizon.horizon_equation, horizon.price_equation, horizon.bits_equation, horizon.even_equation]),
        outputs=(
            Output("bits_per_usd_ratio", "Bits per dollar, over today's", "x", 3),
            Output("horizon_ratio", "Length of task, over today's", "x", 3),
            Output("token_price_ratio", "Price of a token, over today's", "x", 3),
            Output("even_halving_days", "Token price must halve every (days)", "", 3),
        ),
        dials=(
            dial("elapsed_days", "Days from now", 365.0, (0.0, 30.0, 60.0, 91.0, 182.0, 273.0, 365.0, 547.0, 730.0,
                                                         1095.0, 1460.0)),
            dial("doubling_days", "Doubling of task length (days)", middle,
                 (60.0, fast, 110.0, middle, 160.0, slow, 212.0, 300.0, 500.0, 1000.0)),
            dial("time_exponent", "Tokens follow task length to the power", 1.69, stops(0.0, 2.5, 1.69, log=False)),
            dial("price_halving_days", "Halving of the price of a token (days)", 365.0,
                 (40.0, 60.0, 78.0, 110.0, 150.0, 200.0, 300.0, 365.0, 550.0, 730.0, 1500.0)),
            dial("reward_bits_ratio", "Bits of reward per trajectory, over today's", 1.0,
                 (0.5, 1.0, 2.0, 3.0, 5.0, 10.0, 20.0, 50.0, 100.0, 1000.0), unit="×", log=True),
        ),
        over="elapsed_days",
        presets=(
            Preset("all years", {"doubling_days": slow}),
            Preset("since 2024", {"doubling_days": fast}),
            Preset("tokens fall as at equal quality", {"price_halving_days": 110.0}),
            Preset("twenty milestones per trajectory", {"reward_bits_ratio": 20.0}),
        ),
        formula=("bits_per_usd_ratio", "even_halving_days"),
        words=(
            (q("bits_per_usd_ratio") > 1,
             "In {elapsed_days||4} days a dollar buys {bits_per_usd_ratio|x|3} the bits: tokens become cheaper, or "
             "rewards denser, faster than tasks grow."),
            (q("elapsed_days") <= 0, "Today: nothing has changed yet."),
            (True, "In {elapsed_days||4} days a dollar buys {bits_per_usd_ratio|x|2} the bits, unless the price of a "
                   "token halves every {even_halving_days||2} days."),
        ),
    )  # fmt: skip
