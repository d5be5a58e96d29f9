"""The catalogue: every fact has a source, a date and a kind; names are found or refused with a hint."""

import dataclasses
import math
import statistics
import subprocess
import sys

import pytest

from rlecon import catalog
from rlecon.errors import RleconError

GPU_NAMES = ("a100-sxm-80", "h100-sxm", "h200-sxm", "h800", "h20", "gh200", "b200", "gb200", "b300", "gb300", "mi300x",
             "mi325x", "mi355x")
MODEL_NAMES = (
    "qwen3-0.6b", "qwen3-1.7b", "qwen3-4b", "qwen3-8b", "qwen3-14b", "qwen3-32b", "qwen3-30b-a3b", "qwen3-235b-a22b",
    "qwen3.5-9b", "qwen3.5-35b-a3b", "qwen2.5-1.5b", "qwen2.5-7b", "qwen2.5-32b", "llama-3.1-8b", "llama-3.1-70b",
    "llama-3.1-405b", "deepseek-v3", "deepseek-r1", "kimi-k2", "gpt-oss-20b", "gpt-oss-120b", "glm-4.5", "glm-4.5-air",
    "mimo-7b", "olmo-3-7b", "olmo-3-32b",
)


def test_all_promised_names_are_there():
    assert tuple(g.name for g in catalog.gpus()) == GPU_NAMES
    assert {m.name for m in catalog.models()} == set(MODEL_NAMES)


@pytest.mark.parametrize("asked, found", [
    ("H100", "h100-sxm"), ("H100 SXM", "h100-sxm"), ("h100_sxm", "h100-sxm"), ("b200_sxm", "b200"),
    ("A100-80GB", "a100-sxm-80"), ("GB200 NVL72", "gb200"), ("AMD MI300X", "mi300x"),
])
def test_gpu_names_are_found_in_the_spellings_people_use(asked, found):
    assert catalog.gpu(asked).name == found


@pytest.mark.parametrize("asked", ["Qwen/Qwen3-8B", "Qwen3-8B", "qwen3_8b"])
def test_model_names_are_found_in_the_spellings_people_use(asked):
    assert catalog.model(asked).name == "qwen3-8b"


@pytest.mark.parametrize("look_up, asked, hint", [
    (catalog.gpu, "h1000", "h100-sxm"), (catalog.gpu, "mi350x", "mi355x"), (catalog.model, "qwen3-8", "qwen3-8b"),
    (catalog.constant, "train_efficency", "train_efficiency"),
    (catalog.measurement, "silybench_8b_bf16_128_1023", "silybench_8b_bf16_128_1024"), (catalog.claim, "M4", "M44"),
])
def test_an_unknown_name_is_refused_with_the_nearest(look_up, asked, hint):
    with pytest.raises(RleconError, match="unknown") as error:
        look_up(asked)
    assert hint in str(error.value)


def test_two_names_never_mean_two_things():
    for file in ("gpus", "models", "constants"):
        owner = {}
        for name, entry in catalog._tables(file).items():
            for form in {catalog._plain(n) for n in (name, *entry.get("aliases", ()))}:
                assert owner.setdefault(form, name) == name, f"{form} means {owner[form]} and {name}"


# What the vendors' sheets say, typed here from the sheets and not from the catalogue.
@pytest.mark.parametrize("name, bf16, fp8, fp4, tb_per_second, gb", [
    ("a100-sxm-80", 312, None, None, 2.04, 80), ("h100-sxm", 989, 1979, None, 3.35, 80),
    ("h200-sxm", 989, 1979, None, 4.8, 141), ("h20", 148, 296, None, 4.0, 96), ("b200", 2250, 4500, 9000, 7.7, 180),
    ("gb200", 2500, 5000, 10000, 8.0, 186), ("gb300", 2500, 5000, 15000, 8.0, 279),
    ("mi300x", 1307, 2615, None, 5.3, 192), ("mi325x", 1307, 2615, None, 6.0, 256),
    ("mi355x", 2517, 5033, 10066, 8.0, 288),
])
def test_gpus_against_their_sheets(name, bf16, fp8, fp4, tb_per_second, gb):
    g = catalog.gpu(name)
    assert g.dense_bf16_flops_per_second == pytest.approx(bf16 * 1e12, rel=1e-3)
    for field, tera in (("dense_fp8_flops_per_second", fp8), ("dense_fp4_flops_per_second", fp4)):
        assert getattr(g, field) == (None if tera is None else pytest.approx(tera * 1e12, rel=1e-3))
    assert g.memory_bytes_per_second == pytest.approx(tb_per_second * 1e12, rel=2e-3)
    assert g.vendor_memory_bytes == gb * 1e9


def test_gpu_figures_are_plausible_together():
    for g in catalog.gpus():
        assert 1.0 <= g.memory_bytes / g.vendor_memory_bytes <= 1.08  # decimal and binary giga differ by 7 %
        if g.dense_fp8_flops_per_second is not None:
            assert g.dense_fp8_flops_per_second / g.dense_bf16_flops_per_second == pytest.approx(2, rel=2e-3)
        assert g.network_bytes_per_second <= g.link_bytes_per_second < g.memory_bytes_per_second
        assert g.gpus_per_node in (4, 8, 72)


def test_a_precision_that_a_gpu_lacks_is_refused():
    with pytest.raises(RleconError, match="A100.*8-bit"):
        catalog.gpu("a100-sxm-80").flops_per_second(8)
    with pytest.raises(RleconError, match="no such precision"):
        catalog.gpu("h100-sxm").flops_per_second(12)


def test_price_is_the_median_and_the_quartiles_of_what_counts():
    rows = [3.49, 3.85, 3.99, 10.98]  # H100 on demand, 2026-09-25
    price = catalog.gpu_price("h100-sxm")
    assert (price.mid, price.n) == (statistics.median(rows), 4)
    assert price.low == pytest.approx(3.76) and price.high == pytest.approx(5.7375)
    every = [r["usd_per_gpu_hour"] for r in catalog.prices("gpu_rental") if r["gpu"] == "h100-sxm"]
    assert min(every) < price.low and len(every) > price.n  # rows are kept though they do not count


def test_an_unknown_price_stays_unknown():
    for name in ("gb200", "gb300", "h800", "h20", "mi300x", "b300"):
        assert catalog.gpu_price(name) is None
    single = catalog.gpu_price("gh200")
    assert single.n == 1 and single.low is None and single.high is None
    assert 0.04 < catalog.cpu_price().low <= catalog.cpu_price().mid <= catalog.cpu_price().high < 0.08


def test_price_rows_name_gpus_and_models_of_the_catalogue():
    assert {r["gpu"] for r in catalog.prices("gpu_rental")} <= set(GPU_NAMES)
    for table in ("managed_training", "api_tokens"):
        assert {r["model"] for r in catalog.prices(table) if "model" in r} <= set(MODEL_NAMES)


def test_constants_lie_in_their_ranges_and_say_what_they_are():
    for c in catalog.constants():
        assert c.low <= c.value <= c.high and math.isfinite(c.value), c.name
        assert c.unit and len(c.meaning) > 20 and c.kind != "vendor_peak", c.name
        if c.name.endswith(("_efficiency", "_share")) or "_efficiency_" in c.name or "_share_" in c.name:
            assert c.low >= 0 and c.high <= 1, c.name  # an achieved share of a peak never exceeds it


def test_counting_constants_are_not_data():
    assert not {"flops_per_parameter", "seconds_per_hour", "bits_per_byte"} & {c.name for c in catalog.constants()}


def test_measurements_speak_the_language_of_the_run_file():
    every = catalog.measurements()
    assert len(every) > 300 and len({m.id for m in every}) == len(every)
    assert len({m.what for m in every}) == len(every), "the data page shows the words alone: two rows need two names"
    for m in every:
        assert m.what and m.quantity and m.unit and m.topic, m.id
        assert m.value is not None or m.series, m.id
        assert m.confidence in ("read", "second hand", "recalled"), m.id
        assert m.confidence != "recalled" or (not m.usable and m.kind == "assumed"), m.id
        config = m.config
        assert config.get("gpu") in (None, *GPU_NAMES), m.id
        assert config.get("model") in (None, *MODEL_NAMES), m.id
        for row in m.series:
            assert row.get("gpu") in (None, *GPU_NAMES), m.id
        pools = [config[k] for k in ("rollout_gpus", "training_gpus") if k in config]
        if isinstance(config.get("gpus"), int) and all(isinstance(p, int) for p in pools):
            assert sum(pools) <= config["gpus"], m.id


def test_rollouts_of_a_step_are_prompts_times_group():
    seen = 0
    for m in catalog.measurements("step"):
        parts = [m.config.get(k) for k in ("prompts_per_step", "group_size", "rollouts_per_step")]
        if all(isinstance(p, int) for p in parts):
            seen += 1
            assert parts[0] * parts[1] == parts[2], m.id
    assert seen > 60


def test_steps_with_known_length_are_consistent_with_their_throughput():
    """Prompt and response tokens over GPUs and printed throughput give back the printed step time."""
    rows = catalog.measurements("step", tag="known_length")
    assert len(rows) == 44
    off = []
    for m in rows:
        c = m.config
        tokens = c["rollouts_per_step"] * (c["response_tokens"] + m.derived.get("prompt_tokens", 110))
        off.append(abs(math.log(tokens / (c["gpus"] * m.parts["tokens_per_second_per_gpu"]) / m.value)))
    assert statistics.median(off) < 0.03 and max(off) < 0.12


def test_ratios_follow_from_the_rows_they_name():
    rows = [m for m in catalog.measurements("ratio") if "numerator" in m.config and m.quantity == "ratio_of_step_times"]
    assert len(rows) >= 6
    for m in rows:
        top, bottom = (catalog.measurement(m.config[k]) for k in ("numerator", "denominator"))
        assert m.value == pytest.approx(top.value / bottom.value, abs=6e-4), m.id


def test_fp8_curve_follows_from_the_two_sweeps():
    sweeps = {}
    for bits in ("bf16", "fp8"):
        rows = catalog.measurement(f"silybench_8b_{bits}_128_1024").series
        sweeps[bits] = {str(r["concurrent_requests"]): r["output_tokens_per_second"] for r in rows}
    for load, ratio in catalog.measurement("silybench_fp8_ratio").value.items():
        assert ratio == pytest.approx(sweeps["fp8"][load] / sweeps["bf16"][load], abs=2e-3)


@pytest.mark.parametrize("drop", ["source", "as_of", "kind"])
def test_a_fact_without_source_date_or_kind_is_refused(drop):
    entry = {"value": 1, "source": ["garg2026silybench"], "as_of": "2026-09-25", "kind": "measured"}
    catalog.check_entry("x", entry)
    del entry[drop]
    with pytest.raises(RleconError):
        catalog.check_entry("x", entry)


@pytest.mark.parametrize("change", [{"source": []}, {"source": " "}, {"as_of": "lately"}, {"kind": "true"}])
def test_empty_words_are_not_a_source_date_or_kind(change):
    entry = {"source": "a2026b", "as_of": "2026", "kind": "measured", **change}
    with pytest.raises(RleconError):
        catalog.check_entry("x", entry)


def test_an_unknown_field_is_refused():
    with pytest.raises(RleconError, match="not a field"):
        catalog._record(catalog.Constant, {"name": "x", "valu": 1})


def test_records_do_not_change():
    with pytest.raises(dataclasses.FrozenInstanceError):
        catalog.gpu("h20").memory_bytes = 1


def test_importing_reads_no_file_and_one_look_up_reads_one():
    code = ("import builtins, pathlib, sys\n"
            "read = []\n"
            "old = pathlib.Path.read_text\n"
            "pathlib.Path.read_text = lambda self, *a, **k: (read.append(self.name), old(self, *a, **k))[1]\n"
            "from rlecon import catalog\n"
            "assert not read, read\n"
            "catalog.gpu('h100'); catalog.gpu('h20')\n"
            "assert read == ['gpus.toml'], read\n"
            "assert 'numpy' not in sys.modules and 'sympy' not in sys.modules\n")
    subprocess.run([sys.executable, "-c", code], check=True)


def test_inter_token_times_bound_the_throughput_of_load_tests():
    """A request in flight makes at most one token per median gap, so output stays below requests over gap."""
    seen = 0
    for m in catalog.measurements("decode", quantity="output_tokens_per_second", model="qwen3-8b"):
        for row in m.series:
            if "inter_token_ms_median" in row:
                seen += 1
                most = row["concurrent_requests"] / row["inter_token_ms_median"] * 1e3
                assert row["output_tokens_per_second"] <= 1.03 * most, (m.id, row)
    assert seen > 70
