"""Launch configs of training frameworks, read as run files."""

from rlecon.readers.launch.config import FRAMEWORKS, Imported, detect, import_config
from rlecon.readers.launch.draft import Missing

__all__ = ["FRAMEWORKS", "Imported", "Missing", "detect", "import_config"]
