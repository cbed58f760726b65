"""Prints a report of benchmarks/ingest.py: python -m benchmarks.peers.table REPORT."""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

OURS, BARE = "ByTheBook, folder to index", "bare embedder"


def print_comparison(found: Mapping[str, Any]) -> None:
    """Print how it was measured, then the table."""
    book, machine = found["book"], found["machine"]
    print(
        f"\n{book['name']}: {book['chunks']} distinct chunks ({found['embedded_by_us']} embedded by"
        f" our ingest), {book['tokens']} tokens read; {book['cut_short']} chunks cut at"
        f" {book['most_tokens']} tokens, for all systems alike.\n"
        f"{machine['cores_used']} of {machine['cores']} cores each; 'others' is the share of all cores"
        " that other work held meanwhile:\nabove a few per cent the speeds are too low, most of all"
        " those of the peers, whose threads wait for each other.\n"
        "Same weights: the peers run them in fp32 by PyTorch, ByTheBook its own int8 form of them.\n"
        "Peers: from the chunks' texts to an index in memory, model loaded and warm before the\n"
        "clock starts. ByTheBook: from the folder to the published index on disk; its CPU time is\n"
        "that of the whole process, start included.\n"
    )
    measured = [row for row in found["systems"] if "failure" not in row]
    peers = [row["chunks_per_second"] for row in measured if row["is_peer"]]
    print(f"{'system':34} chunks/s    best  CPU ms/chunk  peak MB  others  to fastest peer")
    for row in measured:
        ratio = f"{row['chunks_per_second'] / max(peers):14.2f}x" if peers else ""
        print(
            f"{row['system']:34} {row['chunks_per_second']:8.1f}"
            f" {row['chunks_per_second_best']:7.1f} {row['processor_ms_per_chunk']:13.1f}"
            f" {row['peak_mb']:8.0f} {row['others']:7.0%}  {ratio}"
        )
    for row in found["systems"]:
        if "failure" in row:
            print(f"{row['system']:34} not measured: {row['failure']}")
    speed = {row["system"]: row["chunks_per_second"] for row in measured}
    if OURS in speed and BARE in speed:
        print(f"\nours / bare embedder: {speed[OURS] / speed[BARE]:.3f} (medians)")
    versions = {name: v for row in measured for name, v in row["versions"].items()}
    print("\n" + ", ".join(f"{name} {number}" for name, number in sorted(versions.items())))


def print_long_book(found: Mapping[str, Any]) -> None:
    """Print the peak memory of the long book."""
    print(
        f"{found['markdown_characters']:,} characters of Markdown, {found['chunks']} chunks,"
        f" {found['embedded']} embedded: peak {found['peak_mb']:.0f} MB"
    )


if __name__ == "__main__":
    report = json.loads(Path(sys.argv[1]).read_text("utf-8"))
    if "systems" in report:
        print_comparison(report)
    else:
        print_long_book(report)
