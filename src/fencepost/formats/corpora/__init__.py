"""Corpora as their makers distribute them, read into documents of parses.

document.py   what a reader yields       sources.py   finding files, lists of documents
treebank.py   PTB and CTB                markup.py    XML as a stream of events
genia.py      GENIA's terms              ace.py       ACE 2004 and 2005
"""
