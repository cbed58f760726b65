"""How properties are tried: no time limit for one example, nothing kept between runs."""

from hypothesis import settings

settings.register_profile("unit", deadline=None, database=None, max_examples=100)
settings.register_profile("long", deadline=None, database=None, max_examples=5000)
settings.load_profile("unit")
