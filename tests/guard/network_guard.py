"""Keeps a process from every host but this machine, and notes whom it asked for."""

import ipaddress
import os
import socket
from pathlib import Path
from typing import Any

VARIABLE = "NETWORK_GUARD_FILE"  # names the file that is written to, also for child processes


def install(noted_in: Path) -> None:
    """Refuse look-ups of, and connections to, other hosts; numbers are not looked up anywhere."""
    for name in ("getaddrinfo", "gethostbyname", "gethostbyname_ex"):
        _guard_look_up(name, noted_in)
    for name in ("connect", "connect_ex", "sendto"):
        _guard_connection(name, noted_in)


def install_in_child() -> None:
    """Do the same in a child process, if its parent is guarded."""
    if path := os.environ.get(VARIABLE):
        install(Path(path))


def _guard_look_up(name: str, noted_in: Path) -> None:
    real = getattr(socket, name)

    def look_up(host: Any, *args: Any, **more: Any) -> Any:
        if not _is_address(host):
            _require_here(host, noted_in)
        return real(host, *args, **more)

    setattr(socket, name, look_up)


def _guard_connection(name: str, noted_in: Path) -> None:
    real = getattr(socket.socket, name)

    def connect(self: socket.socket, *args: Any) -> Any:
        if args and isinstance(args[-1], tuple):  # else a file
            _require_here(args[-1][0], noted_in)
        return real(self, *args)

    setattr(socket.socket, name, connect)


def _require_here(host: Any, noted_in: Path) -> None:
    name = host.decode() if isinstance(host, bytes) else host
    if not _is_this_machine(name):
        with noted_in.open("a", encoding="utf-8") as file:
            file.write(f"{name}\n")
        raise socket.gaierror(socket.EAI_FAIL, "tests ask for no other host")


def _is_this_machine(name: str | None) -> bool:
    if name is None or name in {"", "localhost", socket.gethostname()}:
        return True
    if not _is_address(name):
        return False
    address = ipaddress.ip_address(name.partition("%")[0])
    return address.is_loopback or address.is_unspecified


def _is_address(name: Any) -> bool:
    try:
        return bool(ipaddress.ip_address(str(name).partition("%")[0]))
    except ValueError:
        return False
