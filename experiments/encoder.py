"""Make the encoder of the runs on open corpora: the first layers of a small pretrained one.

    python -m experiments.encoder                   # from the hub
    python -m experiments.encoder --source FOLDER   # from a folder

Half of the six layers of all-MiniLM-L6-v2 read twice as fast. In the same time on a processor a
network has then seen each sentence twice as often, which gives better trees (LOG.md).
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

HUB = "sentence-transformers/all-MiniLM-L6-v2"
LAYERS = 3
OUT = Path("runs/experiments/encoder")  # where the settings in experiments/configs look for it


def main() -> None:
    """Cut the encoder."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--source", default=HUB, help="a name on the hub, or a folder")
    parser.add_argument("--out", type=Path, default=OUT, help="the folder to write")
    parser.add_argument("--layers", type=int, default=LAYERS, help="how many, from below")
    options = parser.parse_args()
    if os.path.isdir(options.source):
        os.environ["HF_HUB_OFFLINE"] = "1"

    from transformers import AutoModel, AutoTokenizer

    model = AutoModel.from_pretrained(options.source, num_hidden_layers=options.layers)
    tokenizer = AutoTokenizer.from_pretrained(options.source)
    model.save_pretrained(options.out)
    tokenizer.save_pretrained(options.out)
    weights = sum(parameter.numel() for parameter in model.parameters())
    print(f"{options.out}: {options.layers} layers, {weights / 1e6:.1f} million weights")


if __name__ == "__main__":
    main()
