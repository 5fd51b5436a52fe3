"""The jobs that the command line offers, as functions: no printing, no options."""
