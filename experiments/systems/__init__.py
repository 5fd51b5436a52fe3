"""Ways to parse on the same encoder, trained by the same loop: ours, and those of others.

system.py     what a way to parse consists of, and what several of them share
pointing.py   the library's own way
splitting.py  top-down splitting with pointer networks (Nguyen et al., 2021)
chart.py      span scores and CKY, trained as a conditional random field (Zhang et al., 2020)
binary.py     trees as binary trees, for both of these
inside.py     sums and maxima over all binary trees, for the chart
classifier.py each span by itself, for entities (Yu et al., 2020)
exploring.py  our way, trained on its own errors with the dynamic oracle of dynamic_oracle.py
"""
