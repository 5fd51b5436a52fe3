"""Between annotations and the spans that the pointing system makes: trees, nested entities."""
