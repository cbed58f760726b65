import types

import bythebook


def test_the_public_names_are_what_is_exported_and_sorted() -> None:
    exported = [
        name
        for name, value in vars(bythebook).items()
        if not isinstance(value, types.ModuleType)
        and (not name.startswith("_") or name == "__version__")
    ]
    assert sorted(exported) == bythebook.__all__


def test_the_version_has_three_numbers() -> None:
    assert len([int(part) for part in bythebook.__version__.split(".")]) == 3
