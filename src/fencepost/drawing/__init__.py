"""Trees and entities as pictures: SVG, HTML, and text for the terminal. Plain Python."""
