"""The readers of all kinds of books; answering needs none of them, and they take time to load."""

from bythebook.adapters.readers.any_book import AnyBookReader
from bythebook.settings import Settings


def make_reader(settings: Settings) -> AnyBookReader:
    """Make what reads books of every kind."""
    from bythebook.adapters.readers.epub.reader import EpubReader
    from bythebook.adapters.readers.html.folder import HtmlFolderReader
    from bythebook.adapters.readers.markdown.reader import MarkdownReader
    from bythebook.adapters.readers.pdf.process import MEGABYTE, Limits
    from bythebook.adapters.readers.pdf.reader import PdfReader
    from bythebook.adapters.readers.plugins import find_installed_readers
    from bythebook.adapters.readers.rst.reader import RstReader
    from bythebook.adapters.readers.site.reader import SiteReader

    site = SiteReader(settings.data_dir / "cache" / "sites", allowed_hosts=settings.site_hosts)
    markdown = MarkdownReader()
    return AnyBookReader(
        {
            "markdown": markdown,
            "asciidoc": markdown,  # whose files become the same tokens
            "rst": RstReader(),
            "html": HtmlFolderReader(),
            "pdf": PdfReader(Limits(memory_bytes=settings.pdf_memory_mb * MEGABYTE)),
            "epub": EpubReader(),
            "site": site,
        },
        find_installed_readers(),
    )
