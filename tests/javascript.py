"""Where the scripts of the pages run outside a browser: this machine's Node, or the one that Playwright brings."""

from __future__ import annotations

import shutil
from importlib.util import find_spec
from pathlib import Path

NODE = shutil.which("node") or str(Path(find_spec("playwright").origin).parent / "driver" / "node")
