"""Where everything stands: a left-to-right layout for any process, computed the same way every time."""

from __future__ import annotations

from perdure.bpmn.layout.file_layout import lay_out as lay_out

__all__ = ["lay_out"]
