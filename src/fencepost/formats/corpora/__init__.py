"""Corpora in the form in which they are distributed, read into documents of parses.

document.py   documents of parses        sources.py   files, lists of documents
treebank.py   PTB and CTB                markup.py    XML as a stream of events
genia.py      GENIA's terms              ace.py       ACE 2004 and 2005
"""
