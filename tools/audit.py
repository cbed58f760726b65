"""Checks what we install: hashes, licences, versions known to be bad, and, where one is named, an advisory database.

Usage: .venv/bin/python -m tools.audit [--sbom FILE] [--advisories URL]

Reads the locked requirements and what is installed of them. URL is that of a service with OSV's interface, as
https://host/v1/querybatch; without it nothing is asked over the network. Exits with 1 if anything is wrong.
"""

import argparse
import json
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

import bythebook

ROOT = Path(__file__).resolve().parents[1]
LOCKS = ("run", "setup", "dev", "model", "retrievers")
SHIPPED = "run"
_REQUIREMENT = re.compile(r"^([A-Za-z0-9._-]+)==([^\s;\\]+)")
# Licences that let a publisher run, change and sell a service; the words are those of SPDX and of classifiers.
_ALLOWED = re.compile(
    r"0BSD|Apache|BSD|CC0|ISC|MIT|MPL|Mozilla Public|PSF|Python Software|Public Domain|Unlicense|Zlib",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Package:
    """A locked requirement; its licence is empty where it is not installed on this platform."""

    name: str
    version: str
    hashes: tuple[str, ...]
    licence: str


def read_lock(name: str) -> list[Package]:
    """Read the packages of a lock file with their hashes."""
    text = (ROOT / "requirements" / f"{name}.txt").read_text("utf-8")
    entries = re.split(r"\n(?=\S)", text)
    return [_read_entry(found, entry) for entry in entries if (found := _REQUIREMENT.match(entry))]


def _read_entry(found: re.Match[str], entry: str) -> Package:
    hashes = tuple(re.findall(r"--hash=sha256:([0-9a-f]{64})", entry))
    return Package(found[1].lower(), found[2], hashes, find_licence(found[1]))


def find_licence(name: str) -> str:
    """Return what an installed package says of its licence."""
    try:
        about = metadata.metadata(name)
    except metadata.PackageNotFoundError:
        return ""
    classified = [
        one.rpartition(" :: ")[2]
        for one in about.get_all("Classifier") or []
        if one.startswith("License")
    ]
    fields = [about[name] for name in ("License-Expression", "License") if name in about]
    named = next(filter(None, fields), "")
    return " OR ".join(classified) if classified else named.partition("\n")[0].strip()


def find_faults(
    locks: dict[str, Sequence[Package]], bad: dict[tuple[str, str], str]
) -> Iterator[str]:
    """Yield what is wrong with the packages."""
    for lock, packages in locks.items():
        for one in packages:
            if not one.hashes:
                yield f"{lock}: {one.name} {one.version} has no hash"
            if reason := bad.get((one.name, one.version)):
                yield f"{lock}: {one.name} {one.version} is known to be bad: {reason}"
            if lock == SHIPPED and one.licence and not _ALLOWED.search(one.licence):
                yield f"{lock}: {one.name} {one.version} has the licence {one.licence!r}"


def read_known_bad(text: str) -> dict[tuple[str, str], str]:
    """Read the list of bad versions."""
    lines = (line for line in text.splitlines() if line.strip() and not line.startswith("#"))
    pairs = (line.split(maxsplit=1) for line in lines)
    return {(spec.split("==")[0], spec.split("==")[1]): reason for spec, reason in pairs}


def make_sbom(packages: Sequence[Package]) -> dict[str, Any]:
    """Make a list of what is shipped, in the form of CycloneDX."""
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "name": "bythebook",
                "version": bythebook.__version__,
            }
        },
        "components": [
            {
                "type": "library",
                "name": one.name,
                "version": one.version,
                "purl": f"pkg:pypi/{one.name}@{one.version}",
                "hashes": [{"alg": "SHA-256", "content": value} for value in one.hashes],
                "licenses": [
                    {"license": {"name": one.licence or "not installed on this platform"}}
                ],
            }
            for one in packages
        ],
    }


def ask_advisories(url: str, packages: Sequence[Package]) -> list[str]:
    """Ask an advisory database about all packages at once."""
    import httpx

    queries = [
        {"package": {"name": one.name, "ecosystem": "PyPI"}, "version": one.version}
        for one in packages
    ]
    reply = httpx.post(url, json={"queries": queries}, timeout=60)
    reply.raise_for_status()
    found = zip(packages, reply.json()["results"], strict=True)
    return [
        f"{one.name} {one.version}: {advisory['id']}"
        for one, result in found
        for advisory in result.get("vulns", ())
    ]


def main() -> None:
    """Check, write, print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--sbom", type=Path, help="write a list of what is shipped there")
    parser.add_argument("--advisories", metavar="URL", help="ask this advisory database")
    given = parser.parse_args()
    locks: dict[str, Sequence[Package]] = {name: read_lock(name) for name in LOCKS}
    bad = read_known_bad((ROOT / "tools" / "known_bad.txt").read_text("utf-8"))
    faults = list(find_faults(locks, bad))
    for name, packages in locks.items():
        print(f"{name:11} {len(packages):4} packages")
    if given.advisories:
        faults += ask_advisories(given.advisories, locks[SHIPPED])
    else:
        print("advisories  not asked for: give --advisories URL")
    if given.sbom:
        given.sbom.parent.mkdir(parents=True, exist_ok=True)
        given.sbom.write_text(json.dumps(make_sbom(locks[SHIPPED]), indent=1) + "\n", "utf-8")
    for fault in faults:
        print(f"wrong: {fault}")
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
