"""The sample book as a static site: its content with all that a site puts around it."""

import shutil
from html import escape
from pathlib import Path

from tests.rendered.content import Content, Rendering, render
from tests.rendered.sample import ROOT, TITLE, SamplePage, sample_pages


def render_site(folder: Path) -> Path:
    """Write a folder of pages as Docusaurus lays them out."""
    pages = sample_pages()
    addresses = {page.file: _address(page) for page in pages}

    def address(file: str, anchor: str) -> str:
        return addresses[file] + (f"#{anchor}" if anchor else "")

    shutil.copytree(ROOT / "static" / "img", folder / "img")
    for place, page in enumerate(pages):
        content = render(page.body, Rendering(page.file, "web", address, "/img"))
        around = (pages[place - 1] if place else None, next(iter(pages[place + 1 :]), None))
        path = folder / _address(page).lstrip("/") / "index.html"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(_page(page, content, around), "utf-8")
    return folder


def _address(page: SamplePage) -> str:
    return f"/docs/{page.slug}/" if page.slug else "/docs/"


def _page(
    page: SamplePage, content: Content, around: tuple[SamplePage | None, SamplePage | None]
) -> str:
    body = content.html.replace("<h1", "<header><h1", 1).replace("</h1>", "</h1></header>", 1)
    return f"""<!doctype html>
<html lang="en" dir="ltr" class="docs-wrapper docs-doc-page">
<head>
<meta charset="UTF-8">
<meta name="generator" content="Docusaurus v3.9.2">
<title>{escape(page.title)} | {escape(TITLE)}</title>
<link rel="stylesheet" href="/assets/css/styles.css">
<style>.menu {{ width: 300px }}</style>
<script>document.documentElement.dataset.theme = "light";</script>
</head>
<body class="navigation-with-keyboard">
<div id="__docusaurus">
<div role="region" aria-label="Skip to main content">
<a class="skipToContent" href="#content">Skip to main content</a></div>
<nav aria-label="Main" class="theme-layout-navbar navbar navbar--fixed-top"><div class="navbar__inner">
<a class="navbar__brand" href="/"><b class="navbar__title">Physical AI</b></a>
<a class="navbar__item navbar__link" href="/docs/">Read the course</a>
<button type="button" class="clean-btn">Switch between dark and light mode</button></div></nav>
<div id="content" class="theme-layout-main main-wrapper"><div class="docsWrapper"><div class="docRoot">
<aside class="theme-doc-sidebar-container">{_sidebar(page)}</aside>
<main class="docMainContainer"><div class="container padding-top--md"><div class="row"><div class="col docItemCol">
<div class="docItemContainer"><article>
{_breadcrumbs(page)}
<div class="tocCollapsible theme-doc-toc-mobile tocMobile"><button type="button">On this page</button></div>
<div class="theme-doc-markdown markdown">{body}</div>
<footer class="theme-doc-footer docusaurus-mt-lg"><div class="row">
<a href="https://example.com/edit/{page.file}" class="theme-edit-this-page">Edit this page</a>
<span class="theme-last-updated">Last updated on <time datetime="2026-01-05T10:00:00.000Z">Jan 5, 2026</time></span>
</div></footer></article>
{_pagination(around)}
</div></div><div class="col col--3">{_contents(content)}</div></div></div></main></div></div></div>
<footer class="theme-layout-footer footer footer--dark">
<div class="footer__copyright">Copyright 2026 the authors. Built with Docusaurus.</div></footer>
</div>
<script src="/assets/js/main.js" defer></script>
</body>
</html>
"""


def _sidebar(current: SamplePage) -> str:
    items: list[str] = []
    opened = ""
    for page in sample_pages():
        if opened and page.chapter != opened:
            items.append("</ul></li>")
            opened = ""
        if page.chapter and page.chapter != opened:
            opened = page.chapter
            items.append(
                '<li class="theme-doc-sidebar-item-category menu__list-item">'
                f'<div class="menu__list-item-collapsible"><a class="menu__link" href="{_address(page)}">'
                f'{escape(page.chapter)}</a></div><ul class="menu__list">'
            )
            continue
        active = ' aria-current="page"' if page is current else ""
        items.append(
            f'<li class="theme-doc-sidebar-item-link menu__list-item"><a class="menu__link"{active} '
            f'href="{_address(page)}">{escape(page.title)}</a></li>'
        )
    if opened:
        items.append("</ul></li>")
    listed = "".join(items)
    return (
        '<nav aria-label="Docs sidebar" class="menu thin-scrollbar">'
        f'<ul class="theme-doc-sidebar-menu menu__list">{listed}</ul></nav>'
    )


def _breadcrumbs(page: SamplePage) -> str:
    steps = [page.chapter, page.title] if page.chapter != page.title else [page.title]
    items = "".join(
        f'<li class="breadcrumbs__item"><span class="breadcrumbs__link">{escape(step)}</span></li>'
        for step in steps
        if step
    )
    return (
        '<nav class="theme-doc-breadcrumbs breadcrumbsContainer" aria-label="Breadcrumbs">'
        f'<ul class="breadcrumbs"><li class="breadcrumbs__item"><a aria-label="Home page" href="/">'
        f"</a></li>{items}</ul></nav>"
    )


def _pagination(around: tuple[SamplePage | None, SamplePage | None]) -> str:
    links = "".join(
        f'<a class="pagination-nav__link pagination-nav__link--{word.lower()}" href="{_address(page)}">'
        f'<div class="pagination-nav__sublabel">{word}</div>'
        f'<div class="pagination-nav__label">{escape(page.title)}</div></a>'
        for word, page in zip(("Previous", "Next"), around, strict=True)
        if page is not None
    )
    return f'<nav class="docusaurus-mt-lg pagination-nav" aria-label="Docs pages">{links}</nav>'


def _contents(content: Content) -> str:
    items = "".join(
        f'<li><a href="#{anchor}" class="table-of-contents__link">{escape(text)}</a></li>'
        for level, anchor, text in content.headings
        if level in {2, 3}
    )
    return (
        '<div class="tableOfContents thin-scrollbar theme-doc-toc-desktop">'
        f'<ul class="table-of-contents">{items}</ul></div>'
    )
