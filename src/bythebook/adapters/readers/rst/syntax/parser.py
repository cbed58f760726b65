"""The docutils parser with our own directives and roles; it opens no file and runs no code."""

import re
import time
from functools import cache
from types import SimpleNamespace
from typing import Any

from docutils import frontend, nodes
from docutils.parsers.rst import Parser, states
from docutils.transforms.references import Footnotes
from docutils.utils import Reporter, unescape

from bythebook.adapters.readers.rst.files import RstBounds
from bythebook.adapters.readers.rst.syntax.directive_types import find_directive_class
from bythebook.adapters.readers.rst.syntax.roles import RoleContext, make_role_nodes
from bythebook.errors import UnreadableBook

_MAX_CELLS = 20_000  # corners of a drawn table; docutils takes quadratic time
_MAX_TABLE_CHARACTERS = 5_000_000  # characters
# Characters of a paragraph; docutils takes quadratic time, so longer ones keep their markup.
_MAX_INLINE_LENGTH = 20_000


def parse_rst(text: str, name: str, context: RoleContext, bounds: RstBounds) -> nodes.document:
    """Parse a document; raise UnreadableBook if it is nested too deeply or cannot be parsed."""
    settings = _make_settings().copy()
    settings.line_length_limit = bounds.line_length + 1
    reporter = Reporter(name, report_level=6, halt_level=6, stream=False)
    document = nodes.document(settings, reporter, source=name)
    document.note_source(name, -1)
    parser = Parser(inliner=_Inliner(context, bounds.parse_seconds))
    parser.state_classes = _STATE_CLASSES
    try:
        parser.parse(text, document)
        Footnotes(document).apply()
    except RecursionError as error:
        raise UnreadableBook(f"{name} is nested too deeply.", "Reduce its nesting.") from error
    except (AssertionError, AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        raise UnreadableBook(
            f"{name} has markup that cannot be parsed.", "Check it with docutils and correct it."
        ) from error
    return document


@cache
def _make_settings() -> frontend.Values:
    """Make the settings once: docutils opens no file and writes nothing."""
    settings = frontend.get_default_settings(Parser)
    settings.file_insertion_enabled = False
    settings.raw_enabled = False
    settings.report_level = 6
    settings.halt_level = 6
    settings.warning_stream = False
    settings.syntax_highlight = "none"
    settings.auto_id_prefix = "id"  # as in Sphinx
    return settings


class _Inliner(states.Inliner):
    """Reads the roles of this document only; docutils would register them for the whole process."""

    def __init__(self, context: RoleContext, most_seconds: float) -> None:
        super().__init__()
        self.context = context
        self.most_seconds = most_seconds
        self.deadline = time.monotonic() + most_seconds

    def parse(
        self, text: str, lineno: int, memo: SimpleNamespace, parent: nodes.Element
    ) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        self._check_deadline()
        if len(text) > _MAX_INLINE_LENGTH:
            return [nodes.Text(unescape(text))], []
        return super().parse(text, lineno, memo, parent)

    def quoted_start(self, match: re.Match[str]) -> bool:
        self._check_deadline()  # each start of inline markup may search the rest of the text for its end
        return super().quoted_start(match)

    def _check_deadline(self) -> None:
        if time.monotonic() > self.deadline:
            raise UnreadableBook(
                f"A file took longer than {self.most_seconds:.0f} s to parse.", "Split the file."
            )

    def interpreted(
        self, _rawsource: str, text: str, role: str, _lineno: int
    ) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        return make_role_nodes(role or "", text, self.context), []


# docutils looks for these on the class itself, not on its base classes.
for _name, _pattern in vars(states.Inliner).items():
    if isinstance(_pattern, str) and not _name.startswith("__"):
        setattr(_Inliner, _name, _pattern)


def _run_directive(state: Any, match: Any, **presets: Any) -> Any:
    name = match.group(1)
    return state.run_directive(find_directive_class(name), match, name, presets)


class _LazyStates(dict[str, Any]):
    """The states of a state machine, each created on first use: most are never used."""

    def __init__(self, machine: Any, classes: Any) -> None:
        super().__init__()
        self.machine = machine
        self.classes = {kind.__name__: kind for kind in classes}

    def __missing__(self, name: str) -> Any:
        state = self[name] = self.classes[name](self.machine, self.machine.debug)
        # Without a memo, the machine has not started and will do this itself.
        if hasattr(self.machine, "memo"):
            state.runtime_init()
        return state


class _NestedMachine(states.NestedStateMachine):
    """A state machine for nested content."""

    def add_states(self, state_classes: Any) -> None:
        self.states = _LazyStates(self, state_classes)


class _DirectiveLookup:
    """Looks up our directives in every state that can contain one."""

    nested_sm_cache: list[Any] = []  # noqa: RUF012 - shared by all states, as in docutils
    nested_sm = _NestedMachine
    directive = _run_directive
    explicit = SimpleNamespace(
        **{
            **vars(states.Body.explicit),
            "constructs": [
                (_run_directive if method is states.Body.directive else method, pattern)
                for method, pattern in states.Body.explicit.constructs
            ],
        }
    )

    def __init__(self, state_machine: Any, debug: bool = False) -> None:  # noqa: FBT001, FBT002
        super().__init__(state_machine, debug)  # type: ignore[call-arg]
        self.nested_sm_kwargs = {"state_classes": _STATE_CLASSES, "initial_state": "Body"}

    def isolate_grid_table(self) -> Any:
        block, messages, blank_finish = super().isolate_grid_table()  # type: ignore[misc]
        corners = sum(line.count("+") for line in block)
        if corners > _MAX_CELLS or sum(map(len, block)) > _MAX_TABLE_CHARACTERS:
            return [], self.malformed_table(block), blank_finish  # type: ignore[attr-defined]
        return block, messages, blank_finish


_STATE_CLASSES: tuple[type[states.RSTState], ...] = tuple(
    type(state.__name__, (_DirectiveLookup, state), {}) for state in states.state_classes
)
