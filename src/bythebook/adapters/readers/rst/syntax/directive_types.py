"""Maps directive names to the classes that read them."""

from docutils.parsers.rst import Directive

from bythebook.adapters.readers.rst.syntax import contents, images, tables, verbatim
from bythebook.adapters.readers.rst.syntax import directives as kinds

_NAMES: dict[type[Directive], str] = {
    kinds.ContentDirective: "compound epigraph highlights pull-quote tabs acks",
    kinds.ArgumentDirective: """container class rst-class cssclass only ifconfig hlist tab-set tab-set-code
        grid grid-item div card-carousel button-link button-ref""",
    kinds.TitledDirective: """admonition topic sidebar rubric tab group-tab tab-item dropdown card details
        collapse toggle grid-item-card centered""",
    kinds.InvisibleDirective: """redirect-from meta index currentmodule py:currentmodule module py:module
        js:module tabularcolumns default-domain sectnum section-numbering title sectionauthor
        codeauthor moduleauthor target-notes testsetup testcleanup program cpp:namespace
        cpp:namespace-push cpp:namespace-pop c:namespace c:namespace-push c:namespace-pop
        include literalinclude youtube vimeo video date restructuredtext-test-directive""",
    verbatim.CodeDirective: """code code-block sourcecode doctest testcode testoutput ipython
        jupyter-execute code-cell productionlist""",
    verbatim.CodeTabDirective: "code-tab",
    verbatim.PromptDirective: """prompt terminal console graphviz digraph graph mermaid plantuml uml blockdiag
        seqdiag actdiag nwdiag""",
    verbatim.MathDirective: "math",
    verbatim.ParsedLiteralDirective: "parsed-literal",
    kinds.LineBlockDirective: "line-block",
    verbatim.RawDirective: "raw",
    images.ImageDirective: "image",
    images.FigureDirective: "figure",
    contents.ContentsDirective: "contents local-toc",
    contents.ToctreeDirective: "toctree",
    kinds.RoleDirective: "role",
    kinds.DefaultRoleDirective: "default-role",
    kinds.HighlightDirective: "highlight highlightlang",
    contents.RunningTextDirective: "header footer",
    kinds.SignatureDirective: """function data exception attribute method staticmethod classmethod
        property decorator decoratormethod describe object option cmdoption envvar confval
        cfunction cmember cmacro ctype cvar var type autosummary automodule autoclass autofunction
        automethod autodata autoattribute autoexception autoproperty autodecorator autoprogram
        doxygenfile doxygenclass doxygenfunction doxygenstruct doxygenenum doxygennamespace
        doxygenindex doxygengroup doxygentypedef doxygendefine doxygenvariable argparse click
        bibliography inheritance-diagram""",
    tables.TableDirective: "table",
    tables.ListTableDirective: "list-table flat-table",
    tables.CsvTableDirective: "csv-table",
    tables.GlossaryDirective: "glossary",
}
_DOMAINS = frozenset({"py", "c", "cpp", "js", "rst", "std", "http", "cmake", "java", "go", "rb"})
_GENERATED = ("auto", "doxygen", "argparse", "click", "bibliography", "inheritance-diagram")
_KNOWN: dict[str, type[Directive]] = {
    **{name: kind for kind, names in _NAMES.items() for name in names.split()},
    **dict.fromkeys(kinds.ADMONITIONS, kinds.AdmonitionDirective),
    **dict.fromkeys(kinds.VERSIONS, kinds.VersionDirective),
    **kinds.SUBSTITUTIONS,
}


def find_directive_class(name: str) -> type[Directive]:
    """Return the class that reads a directive."""
    name = name.lower()
    if name in _KNOWN:
        return _KNOWN[name]
    return (
        kinds.SignatureDirective
        if name.partition(":")[0] in _DOMAINS and ":" in name
        else kinds.UnknownDirective
    )


def is_unknown(name: str) -> bool:
    """Return True if no class reads the directive; its content is kept as text."""
    return find_directive_class(name) is kinds.UnknownDirective


def is_generated(name: str) -> bool:
    """Return True if only the book's own tools can render the directive."""
    return name.lower().startswith(_GENERATED)
