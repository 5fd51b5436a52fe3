"""For the API pages: doctests as code. In Markdown `>>>` would be a quotation."""

import re
from typing import Any

import griffe

_DOCTEST = re.compile(r"^>>> .*(?:\n.+)*", re.MULTILINE)


class Doctests(griffe.Extension):
    """Puts a fence around each doctest of a docstring."""

    def on_object(self, *, obj: griffe.Object, **kwargs: Any) -> None:
        """Change the docstring of anything that has one."""
        if obj.docstring:
            obj.docstring.value = _DOCTEST.sub(r"```python\n\g<0>\n```", obj.docstring.value)
