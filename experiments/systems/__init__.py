"""Ways to parse on the same encoder, trained by the same loop: ours, and those of others.

pointing.py   the library's own way, and changes to how it is trained
splitting.py  top-down splitting with pointer networks (Nguyen et al., 2021)
chart.py      span scores and CKY, trained as a conditional random field (Zhang et al., 2020)
inside.py     sums and maxima over all binary trees, for it
canonical.py  our way, trained over what the canonical rules allow
exploring.py  our way, trained on its own errors with the dynamic oracle of dynamic_oracle.py
"""
