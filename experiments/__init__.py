"""The paper's tables, figures and ablations, and what goes beyond them; one command each.

python -m experiments.table2 --help
"""
