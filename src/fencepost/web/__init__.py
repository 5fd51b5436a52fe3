"""The server: parses for other programs, and a page to explore them with."""
