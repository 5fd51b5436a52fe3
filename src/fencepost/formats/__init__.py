"""Files to parses and parses to files, one module a format.

settings.py   options of reading, writing   files.py     lines, gzip, encodings, atomic output
entries.py    one entry of a file           registry.py  the list of formats
reading.py    files to parses               writing.py   parses to a file
ptb.py        Penn brackets                 cleaning.py  traces, function tags, labels
data.py       three-line entities           jsonl.py     JSON lines
conll.py      columns                       schemes.py   BIO, IOB1, BIOES
brat.py       text with stand-off entities  standoff.py  characters to words and sentences
conllu.py     CoNLL-U                       cas.py       UIMA CAS in XMI
labelstudio.py, doccano.py, annotations.py  annotation tools
docbin.py     spaCy's binary documents      corpora/     original distributions
pretty.py     trees for the terminal        html.py      pages with drawings
tsv.py        a table of entities
"""

from fencepost.formats.reading import ParseReader, read
from fencepost.formats.settings import ReadSettings, WriteSettings
from fencepost.formats.writing import write

__all__ = ["ParseReader", "ReadSettings", "WriteSettings", "read", "write"]
