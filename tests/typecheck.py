"""The run-time type checker of the test suite: an int may stand for a float, as in PEP 484."""

from beartype import BeartypeConf, beartype

checker = beartype(conf=BeartypeConf(is_pep484_tower=True))
