"""While a stream is to call a Python function, no driver call that may wait keeps the GIL from it."""

from __future__ import annotations

import json
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
