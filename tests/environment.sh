#!/bin/sh
# Makes .venv and installs requirements.txt into it, with Python 3.11 or later: $PYTHON, else the first one found.
# The standard library's venv and pip are enough; uv, where it works, only makes it faster.
set -eu
recent='import sys; sys.exit(sys.version_info < (3, 11))'
if [ ! -x .venv/bin/python ] || ! .venv/bin/python -c "$recent" 2>/dev/null; then
    found=
    for candidate in ${PYTHON:-} python3 python3.11 python3.12 python3.13 python3.14 python; do
        if "$candidate" -c "$recent" >/dev/null 2>&1; then found=$candidate; break; fi
    done
    if [ -z "$found" ]; then
        echo "Python 3.11 or later is needed. Install it, or name it: make book PYTHON=/path/to/python3.12" >&2
        exit 1
    fi
    echo "Making .venv with $("$found" --version) ..."
    rm -rf .venv
    if ! "$found" -m venv .venv >.venv.log 2>&1; then
        rm -rf .venv
        if ! uv venv --quiet --seed --python "$found" .venv 2>>.venv.log; then
            cat .venv.log >&2
            rm -f .venv.log
            echo "Could not make .venv. On Debian and Ubuntu: apt-get install python3-venv" >&2
            exit 1
        fi
    fi
    rm -f .venv.log
fi
echo "Installing requirements.txt (about a minute the first time) ..."
if uv --version >/dev/null 2>&1 && uv pip install --quiet --python .venv/bin/python -r requirements.txt 2>/dev/null; then
    exit 0
fi
.venv/bin/python -m pip install --quiet --disable-pip-version-check -r requirements.txt
