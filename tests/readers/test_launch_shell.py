"""What a shell would make of a script, found without running it."""

import contextlib

import pytest

from rlecon.errors import RleconError
from rlecon.readers.launch.arithmetic import arithmetic
from rlecon.readers.launch.flags import flag_entries, hydra_entries
from rlecon.readers.launch.settings import Settings
from rlecon.readers.launch.shell import HOLE, read_script
from rlecon.readers.launch.values import Unknown


def words(text):
    return [arg.text for arg in read_script(text).commands[-1].args]


@pytest.mark.parametrize("text, expected", [
    ("python x a=1 'b c' \"d e\" f\\ g", ["python", "x", "a=1", "b c", "d e", "f g"]),
    ("N=4\npython n=$N m=${N} k=\"$N\"_s l='$N'", ["python", "n=4", "m=4", "k=4_s", "l=$N"]),
    ("python ${A:-1} ${A-2} ${B:=3} $B", ["python", "1", "2", "3", "3"]),
    ("A=\npython x${A:-1} x${A-2} x${A:+9}", ["python", "x1", "x", "x"]),
    ("A=7\npython ${A:+9} ${A:-1} ${C:-${A}} ${C:-${D:-z}}", ["python", "9", "7", "7", "z"]),
    ("A=$((1024 * 2))\npython $((A + 1)) $(( (A+2)/3 ))", ["python", "2049", "683"]),
    ("X=(a 'b c')\nX+=(d)\npython \"${X[@]}\" ${X[0]}", ["python", "a", "b c", "d", "a"]),
    ("X=\"a b\"\npython $X \"$X\"", ["python", "a", "b", "a b"]),
    ("python a \\\n  b \\\n  c # d\n", ["python", "a", "b", "c"]),
    ("M=org/Qwen3-8B\npython ${M##*/} ${M%/*} ${M,,}", ["python", "Qwen3-8B", "org", "org/qwen3-8b"]),
    ("if [ 1 = 1 ]; then A=x; else A=y; fi\npython $A", ["python", "x"]),
    ("if [[ -z \"$Q\" || 2 -gt 3 ]]; then A=x; elif true; then A=y; fi\nQ=1\npython $A", ["python", HOLE]),
    ("Q=\nif [[ -z \"$Q\" && 2 -lt 3 ]]; then A=x; fi\npython $A", ["python", "x"]),
    ("Q=b\ncase $Q in a) A=1;; b|c) A=2;; *) A=3;; esac\npython $A", ["python", "2"]),
    ("Q=zz\ncase $Q in a) A=1;; *) A=3;; esac\npython $A", ["python", "3"]),
    ("f() { A=$1; }\nf 8\npython $A", ["python", "8"]),
    ("false && A=1 || A=2\npython $A", ["python", "2"]),
    ("cat <<EOF\npython nothing\nEOF\npython real", ["python", "real"]),
    ("export A=1 B=2\nlocal C=3\npython $A$B$C", ["python", "123"]),
    ("A=1; B=2 python $A > log.txt 2>&1 | tee x\npython last", ["python", "last"]),
])
def test_words(text, expected):
    assert words(text) == expected


@pytest.mark.parametrize("text", [
    "A=$(cat secret)\npython $A", "python $NOWHERE", "python $1", "A=`ls`\npython ${A:-x}", "python $((NOWHERE + 1))",
    "if grep -q x file; then A=1; else A=2; fi\npython $A", "for A in 1 2; do B=$A; done\npython $B",
])
def test_what_the_file_does_not_settle_is_a_hole(text):
    assert HOLE in words(text)[-1]


def test_an_undecided_branch_that_exits_does_not_count():
    text = "A=1\nif ! command -v nvidia-smi; then A=2; exit 1; fi\npython $A"
    assert words(text) == ["python", "1"]


def test_an_undecided_value_names_its_choices():
    text = "if nvidia-smi; then N=8; else N=4; fi\npython -m verl.x a.n=$N a.b=1 a.c=2"
    value = hydra_entries(read_script(text))["a.n"].value
    assert isinstance(value, Unknown) and "8 or 4" in value.why and "line 1" in value.why


def test_an_override_added_under_an_undecided_condition_is_unknown():
    text = "X=(a.n=1 a.b=2)\nif nvidia-smi; then X+=(a.n=3); fi\npython x.py \"${X[@]}\" a.c=4"
    entries = hydra_entries(read_script(text))
    assert isinstance(entries["a.n"].value, Unknown) and entries["a.b"].value == "2"


def test_later_overrides_win_and_tilde_removes():
    entries = hydra_entries(read_script("python x.py a.n=1 +a.m=2 a.n=3 ~a.m a.k='[1,2]'"))
    assert entries["a.n"].value == "3" and "a.m" not in entries and entries["a.k"].value == "[1,2]"


def test_a_comment_inside_a_continued_command_cuts_it_as_in_the_shell():
    script = read_script("python x.py a.n=1 a.b=2 a.c=3 \\\n# note\n  a.n=5\n")
    assert hydra_entries(script)["a.n"].value == "1" and any("not read" in note for note in script.notes)


def test_flags():
    entries = flag_entries(read_script("python train.py --a-b 1 --on --range 0 1 --neg -5 --eq=3 --last"))
    values = {key: entry.value for key, entry in entries.items()}
    assert values == {"program": "train.py", "a_b": 1, "on": True, "range": [0, 1], "neg": -5, "eq": 3, "last": True}


@pytest.mark.parametrize("text, value", [
    ("1+2*3", 7), ("-(2-5)", 3), ("7/2", 3), ("-7/2", -3), ("-7%3", -1), ("2**10", 1024), ("a*a", 16),
    ("1+", None), ("1/0", None), ("b", None), ("2**99", None), ("__import__('os')", None), ("9" * 30, None),
    ("(" * 100 + "1" + ")" * 100, None), ("10**18*10", None),
])
def test_arithmetic(text, value):
    assert arithmetic(text, {"a": 4}) == value


@pytest.mark.parametrize("text", ['python "open', "python $(open", "python ${open", "python `open"])
def test_open_ends_are_refused(text):
    with pytest.raises(RleconError, match="line 1"):
        read_script(text)


@pytest.mark.parametrize("text", [
    "X=a\n" + "X=$X$X\n" * 60 + "python $X",
    "X=(a)\n" + "X+=(\"${X[@]}\" \"${X[@]}\")\n" * 40 + "python",
    "f() { f; f; }\nf\npython",
    "if a; then " * 200 + "python",
    "python " + "${A:-" * 200 + "x" + "}" * 200,
])
def test_what_unfolds_without_end_is_refused_or_a_hole(text):
    with contextlib.suppress(RleconError):
        assert HOLE in "".join(words(text)) or words(text) == ["python"]


def test_interpolation():
    from rlecon.readers.launch.formats import yaml_entries
    s = Settings(yaml_entries(
        "a: {n: 4, m: '${a.n}', k: '${mul:${a.n}, ${.m}}', s: 'x-${a.n}', e: '${oc.env:HOME,7}', u: '${oc.env:HOME}',"
        " r: '${.n}'}\nq: '${eval:1+1}'\nz: '${nowhere}'\n"))
    assert [s.find(f"a.{key}").value for key in "nmkser"] == [4, 4, 16, "x-4", 7, 4]
    assert s.find("a.u") is None and s.find("q") is None and s.find("z") is None
    assert set(s.undecided) == {"a.u", "q", "z"}


def test_merge_keys_are_defaults():
    from rlecon.readers.launch.formats import yaml_entries
    entries = yaml_entries("base: &b {x: 1, y: 2}\nc: {y: 3, <<: *b}\n")
    assert entries["c.x"].value == 1 and entries["c.y"].value == 3
