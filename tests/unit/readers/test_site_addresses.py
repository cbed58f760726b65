"""Web addresses and the guard that says which may be reached."""

import re
import socket

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bythebook.adapters.readers.site.address import BadAddress, join, parse_address
from bythebook.adapters.readers.site.guard import HostGuard, is_forbidden
from bythebook.adapters.readers.site.limits import HostRefused
from bythebook.settings import Settings


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("HTTP://Example.ORG", "http://example.org/"),
        ("https://example.org:443/a", "https://example.org/a"),
        ("http://example.org:8080/a", "http://example.org:8080/a"),
        ("http://example.org/a/../b/./c/", "http://example.org/b/c/"),
        ("http://example.org/../../a", "http://example.org/a"),
        ("http://example.org//a", "http://example.org/a"),
        ("http://example.org/%7euser/%c3%a4?q=%2f", "http://example.org/~user/%C3%A4?q=%2F"),
        ("http://example.org/ä%zz", "http://example.org/%C3%A4%25zz"),
        ("http://example.org/a#fragment", "http://example.org/a"),
        ("http://bücher.example/", "http://xn--bcher-kva.example/"),
        ("http://faß.example/", "http://xn--fa-hia.example/"),
        ("http://93.184.216.34/", "http://93.184.216.34/"),
        ("http://[2001:DB8::1]:81/", "http://[2001:db8::1]:81/"),
        ("http://xn--bcher-kva.example/", "http://xn--bcher-kva.example/"),
    ],
)
def test_an_address_has_one_normal_form(text: str, normal: str) -> None:
    assert parse_address(text).text == normal
    assert parse_address(normal).text == normal


@pytest.mark.parametrize(
    "text",
    [
        "", "example.org", "//example.org/", "ftp://example.org/", "javascript:alert(1)",
        "http:///path", "http://", "http://user@example.org/", "http://user:word@example.org/",
        "http://example.org:0/", "http://example.org:99999/", "http://example.org:/",
        "http://example.org\\@evil.example/", "http://exa mple.org/", "http://example.org/a b",
        "http://example.org/\n", "http://example.org\x00/", "http://2130706433/", "http://127.1/",
        "http://0x7f.1/", "http://0x7f000001/", "http://0177.0.0.1/", "http://1.2.3.4.5/",
        "http://256.1.1.1/", "http://example.org./", "http://127.0.0.1./", "http://-a.example/",
        "http://a..example/", "http://.example/", "http://[::1/", "http://[::1]x/", "http://[fe80::1%25a]/",
        "http://exa%6dple.org/", "http://example.org%00/", f"http://example.org/{'a' * 2000}",
        "http://" + "a" * 64 + ".example/", "http://\u202eexample/",
    ],
)  # fmt: skip
def test_what_is_not_plainly_an_address_is_refused(text: str) -> None:
    with pytest.raises(BadAddress):
        parse_address(text)


@given(st.text(max_size=60))
def test_no_text_breaks_the_parser(text: str) -> None:
    for whole in (text, f"http://{text}", f"http://example.org/{text}"):
        try:
            address = parse_address(whole)
        except BadAddress:
            continue
        assert parse_address(address.text) == address


@given(st.text(max_size=60))
def test_no_link_breaks_the_joining(text: str) -> None:
    found = join(parse_address("http://example.org/a/b"), text)
    assert found is None or parse_address(found[0].text) == found[0]


@pytest.mark.parametrize(
    ("reference", "found"),
    [
        ("c", ("http://example.org/a/c", "")),
        ("../c#x%20y", ("http://example.org/c", "x y")),
        ("/c?d=e", ("http://example.org/c?d=e", "")),
        ("//other.example/", ("http://other.example/", "")),
        (" c d ", ("http://example.org/a/c%20d", "")),
        ("#here", ("http://example.org/a/b", "here")),
        ("mailto:a@b.example", None),
        ("javascript:void(0)", None),
        ("\\\\evil.example/", None),
        ("java\nscript:x", None),
        ("http://[", None),
    ],
)
def test_a_link_is_counted_from_its_page(reference: str, found: tuple[str, str] | None) -> None:
    joined = join(parse_address("http://example.org/a/b"), reference)
    assert (joined and (joined[0].text, joined[1])) == found


def test_addresses_of_one_page_have_one_key() -> None:
    spellings = ("/a", "/a/", "/a/index.html", "/a/index.htm", "/x/../a/#b")
    keys = {parse_address(f"http://example.org{path}").key for path in spellings}
    assert keys == {"/a"}
    assert parse_address("http://example.org/a/myindex.html").key == "/a/myindex.html"


@pytest.mark.parametrize(
    "number",
    """0.0.0.0 10.0.0.1 100.64.0.1 100.127.255.255 127.0.0.1 127.255.255.254 169.254.169.254
    172.16.0.1 172.31.255.255 192.0.0.1 192.0.2.1 192.88.99.1 192.168.1.1 198.18.0.1 198.51.100.1
    203.0.113.1 224.0.0.1 239.255.255.255 240.0.0.1 255.255.255.255 :: ::1 ::ffff:8.8.8.8
    ::ffff:127.0.0.1 ::127.0.0.1 64:ff9b::808:808 64:ff9b:1::1 100::1 2001::1 2001:db8::1 2002:808:808::1
    fc00::1 fd12::1 fe80::1 fe80::1%eth0 fec0::1 ff02::1 3fff::1 rubbish""".split(),
)
def test_no_address_but_a_public_one_is_let_through(number: str) -> None:
    assert is_forbidden(number)


@pytest.mark.parametrize("number", ["8.8.8.8", "93.184.216.34", "172.32.0.1", "2606:2800:220::1"])
def test_public_addresses_are_let_through(number: str) -> None:
    assert not is_forbidden(number)


@pytest.mark.parametrize("url", ["http://[::1]:8080/", "https://[fd00::2]/", "http://10.0.0.1/"])
def test_the_host_that_a_refusal_names_is_one_that_the_guard_accepts(url: str) -> None:
    address = parse_address(url)
    with pytest.raises(HostRefused) as refused:
        HostGuard().resolve(address)
    (named,) = re.findall(r"add (\S+) to BYTHEBOOK_ALLOWED_HOSTS", str(refused.value))
    allowed = Settings(allowed_hosts=named).site_hosts
    assert HostGuard(allowed).allows(address)


def test_one_private_address_among_public_ones_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    found = [(0, 0, 0, "", (number, 80)) for number in ("8.8.8.8", "10.0.0.1")]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: found)
    address = parse_address("http://mixed.example/")
    with pytest.raises(HostRefused, match=r"add mixed\.example:80 to BYTHEBOOK_ALLOWED_HOSTS"):
        HostGuard().resolve(address)
    assert HostGuard({"mixed.example"}).resolve(address) == ("8.8.8.8", "10.0.0.1")
    assert HostGuard({"Mixed.Example:80 "}).resolve(address) == ("8.8.8.8", "10.0.0.1")
    with pytest.raises(HostRefused):
        HostGuard({"mixed.example:81"}).resolve(address)


def test_an_allowed_ipv6_host_may_be_named_with_brackets() -> None:
    address = parse_address("http://[::1]:81/")
    assert HostGuard({"[::1]:81"}).allows(address)
    assert HostGuard({"::1"}).allows(address)
    assert not HostGuard({"[::1]:8"}).allows(address)
