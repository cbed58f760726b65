import json
from dataclasses import replace

import pytest
from tools.audit import Package, find_faults, make_sbom, read_known_bad, read_lock

GOOD = Package("good", "1.0", ("0" * 64,), "MIT")


def test_what_we_ship_passes() -> None:
    assert list(find_faults({"run": read_lock("run")}, {})) == []


@pytest.mark.parametrize(
    ("package", "fault"),
    [
        (replace(GOOD, hashes=()), "has no hash"),
        (replace(GOOD, licence="GNU General Public License v3"), "has the licence"),
        (replace(GOOD, version="6.6.6"), "is known to be bad: it stole keys"),
    ],
)
def test_a_fault_is_named(package: Package, fault: str) -> None:
    bad = read_known_bad("# list\n\ngood==6.6.6  it stole keys\n")
    assert fault in " ".join(find_faults({"run": [GOOD, package]}, bad))


def test_a_bill_of_materials_names_every_package_with_its_hashes() -> None:
    made = json.loads(json.dumps(make_sbom(read_lock("run"))))
    assert len(made["components"]) == len(read_lock("run"))
    assert all(one["hashes"] and one["purl"].startswith("pkg:") for one in made["components"])
