"""Rules that read a training log, each for one waste; ``rlecon.diagnosis`` runs them all.

A rule takes a ``LogReport`` and a ``Context`` (what else is known of the run) and returns one ``Finding``. It never
fills in a missing figure: it names it and answers "cannot tell". Savings are per step, from the log's own times; where
only a bound follows, the finding says "at most".
"""
