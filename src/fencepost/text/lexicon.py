"""Words with a meaning of their own in the rules, in lower case."""

from __future__ import annotations


def _listed(*lines: str) -> frozenset[str]:
    return frozenset(word for line in lines for word in line.split())


# Abbreviations that are not words without their full stop.
SHORT = _listed(
    "mr mrs messrs dr drs prof vs cf viz approx etc ibid eds dept govt univ assn inc ltd corp bros",
    "blvd hwy hrs lbs oz yr yrs encl misc abbr mfg mgr asst",
)
# Abbreviations with a capital; without it, they may be the last word of a sentence: `They wed.`
SHORT_NAMES = _listed(
    "ms mx mme mlle rev hon gen col maj lt cmdr capt cpl sgt pvt adm gov sen rep pres supt insp",
    "st ste mt ft ca jr sr esq co ave rd apt jan feb apr aug sept oct nov dec tue tues wed thu",
    "thur thurs ala ariz calif colo conn fla kan mich minn mont neb nev okla tenn tex va wis wyo",
)
# Abbreviations before a number; elsewhere, a full stop may end the sentence: `He said no.`
BEFORE_NUMBER = _listed(
    "no nos fig figs art ch sec p pp para pt eq eqs op vol vols ver ca b c d m r div est ext tel"
)
# Abbreviations that never end a sentence.
LEADING = _listed(
    "mr mrs messrs dr drs prof vs cf viz approx ms mx mme mlle rev hon gen col maj lt cmdr capt",
    "cpl sgt pvt adm gov sen rep pres supt insp st ste mt ft ca e.g i.e p.s",
)
# Prefixes that stay together with the word after the hyphen: `non-stop`.
PREFIXES = _listed(
    "anti bi co contra counter cross de e ex extra hyper infra inter intra macro mega meta micro",
    "mid mini mono multi non para poly post pre pro proto pseudo re semi socio sub super supra",
    "trans tri u ultra un uni vice",
)
# Units that are split from their number: `10km`.
UNITS = _listed(
    "am pm km cm mm nm m kg mg g lb lbs oz ft mi mph kph ml l hz khz mhz ghz kb mb gb tb",
    "kw mw kwh px min mins hr hrs",
)
# Two words written as one, and the places to cut them.
TWO_IN_ONE = {
    **dict.fromkeys(_listed("cannot gonna gotta wanna lotta lemme gimme"), (3,)),
    **dict.fromkeys(_listed("y'all y’all d'you d’you 'tis ’tis 'twas ’twas"), (2,)),
}
# After an abbreviation, one of these with a capital starts a sentence: it is rarely a name.
STARTERS = _listed(
    "a an the this that these those there here it he she we they you i his her its our their your",
    "my and but or so yet if when while where who what why how which because although though since",
    "after before as at by for from in into of on to with without then now however moreover",
    "no not yes all both each every many most some such one two is are was were do does did",
    "also thus hence therefore meanwhile instead indeed perhaps maybe let please",
)
# Verbs after a quotation: `"Why?" Ann asked.`
SPEECH = _listed(
    "said says say asked asks ask cried cries answered replied replies shouted whispered called",
    "added began screamed yelled murmured muttered exclaimed demanded wondered",
)
