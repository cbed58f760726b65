"""Which directive is of which kind."""

from docutils.parsers.rst import Directive

from bythebook.adapters.readers.rst import contents, pictures, tables, verbatim
from bythebook.adapters.readers.rst import directives as kinds

_NAMES: dict[type[Directive], str] = {
    kinds.Part: "compound epigraph highlights pull-quote tabs acks",
    kinds.Argued: """container class rst-class cssclass only ifconfig hlist tab-set tab-set-code
        grid grid-item div card-carousel button-link button-ref""",
    kinds.Titled: """admonition topic sidebar rubric tab group-tab tab-item dropdown card details
        collapse toggle grid-item-card centered""",
    kinds.Invisible: """redirect-from meta index currentmodule py:currentmodule module py:module
        js:module tabularcolumns default-domain sectnum section-numbering title sectionauthor
        codeauthor moduleauthor target-notes testsetup testcleanup program cpp:namespace
        cpp:namespace-push cpp:namespace-pop c:namespace c:namespace-push c:namespace-pop
        include literalinclude youtube vimeo video date restructuredtext-test-directive""",
    verbatim.Code: """code code-block sourcecode doctest testcode testoutput ipython
        jupyter-execute code-cell productionlist""",
    verbatim.CodeTab: "code-tab",
    verbatim.Prompt: """prompt terminal console graphviz digraph graph mermaid plantuml uml blockdiag
        seqdiag actdiag nwdiag""",
    verbatim.Math: "math",
    verbatim.Parsed: "parsed-literal",
    kinds.Lines: "line-block",
    verbatim.Raw: "raw",
    pictures.Image: "image",
    pictures.Figure: "figure",
    contents.Contents: "contents local-toc",
    contents.Toc: "toctree",
    kinds.Role: "role",
    kinds.DefaultRole: "default-role",
    kinds.Highlight: "highlight highlightlang",
    contents.Running: "header footer",
    kinds.Signature: """function data exception attribute method staticmethod classmethod
        property decorator decoratormethod describe object option cmdoption envvar confval
        cfunction cmember cmacro ctype cvar var type autosummary automodule autoclass autofunction
        automethod autodata autoattribute autoexception autoproperty autodecorator autoprogram
        doxygenfile doxygenclass doxygenfunction doxygenstruct doxygenenum doxygennamespace
        doxygenindex doxygengroup doxygentypedef doxygendefine doxygenvariable argparse click
        bibliography inheritance-diagram""",
    tables.Table: "table",
    tables.ListTable: "list-table flat-table",
    tables.CsvTable: "csv-table",
    tables.Glossary: "glossary",
}
_DOMAINS = frozenset({"py", "c", "cpp", "js", "rst", "std", "http", "cmake", "java", "go", "rb"})
_GENERATED = ("auto", "doxygen", "argparse", "click", "bibliography", "inheritance-diagram")
_KNOWN: dict[str, type[Directive]] = {
    **{name: kind for kind, names in _NAMES.items() for name in names.split()},
    **dict.fromkeys(kinds.ADMONITIONS, kinds.Admonition),
    **dict.fromkeys(kinds.VERSIONS, kinds.Version),
    **kinds.SUBSTITUTIONS,
}


def directive_kind(name: str) -> type[Directive]:
    """Give how a directive is read, by its name."""
    name = name.lower()
    if name in _KNOWN:
        return _KNOWN[name]
    return kinds.Signature if name.partition(":")[0] in _DOMAINS and ":" in name else kinds.Unknown


def is_unknown(name: str) -> bool:
    """Say whether no kind fits a directive; its words are kept as text."""
    return directive_kind(name) is kinds.Unknown


def is_generated(name: str) -> bool:
    """Say whether a directive shows what only the book's own tools can make."""
    return name.lower().startswith(_GENERATED)
