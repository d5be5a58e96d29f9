"""The run file as a JSON schema, for editors."""

from __future__ import annotations

from typing import get_type_hints

import msgspec

from rlecon.run_file import RunFile
from rlecon.run_keys import KEYS


def schema() -> dict:
    """JSON schema of the run file, for editors: meanings, units, bounds, choices, and the catalogue's names.

    A copy is shipped as ``rlecon/data/run.schema.json``. TOML has no null: a key without a default is left out.

    >>> schema()["$defs"]["Hardware"]["properties"]["gpus"]
    {'description': 'all GPUs of the run [GPU]', 'type': 'integer', 'minimum': 1}
    """
    from rlecon import catalog

    made = msgspec.json.schema(RunFile)
    sections = get_type_hints(RunFile)
    for section, struct in sections.items():
        for name, field in made["$defs"][struct.__name__]["properties"].items():
            for alternative in field.pop("anyOf", ()):
                field |= alternative if alternative != {"type": "null"} else {}
            if field.get("default", 0) is None:
                del field["default"]
            unit = KEYS[f"{section}.{name}"].unit
            if unit != "1":
                field["description"] += f" [{unit}]"
    names = {"Model": [m.name for m in catalog.models()], "Hardware": [*(g.name for g in catalog.gpus()), "custom"]}
    made["$defs"]["Model"]["properties"]["name"]["enum"] = names["Model"]
    made["$defs"]["Judge"]["properties"]["name"]["enum"] = names["Model"]
    made["$defs"]["Hardware"]["properties"]["gpu"]["enum"] = names["Hardware"]
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "rlecon run file"} | made
