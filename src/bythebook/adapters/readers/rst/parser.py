"""docutils' parser with directives and roles of our own; it opens no file and runs no code."""

import re
import time
from functools import cache
from types import SimpleNamespace
from typing import Any

from docutils import frontend, nodes
from docutils.parsers.rst import Parser, states
from docutils.transforms.references import Footnotes
from docutils.utils import Reporter, unescape

from bythebook.adapters.readers.rst.catalogue import directive_kind
from bythebook.adapters.readers.rst.files import LONGEST_LINE
from bythebook.adapters.readers.rst.roles import RoleContext, role_nodes
from bythebook.errors import UnreadableBook

LONGEST_PARSE = 15.0  # seconds
_MOST_CELLS = 20_000  # corners of a drawn table; docutils takes time as their square
_LARGEST_TABLE = 5_000_000  # characters
# Characters of a paragraph; docutils takes time as their square, so longer ones keep their markup.
_LONGEST_INLINE = 20_000


def parse_rst(text: str, name: str, context: RoleContext) -> nodes.document:
    """Parse a document, or raise UnreadableBook if it is nested or tangled beyond reason."""
    settings = _settings().copy()
    reporter = Reporter(name, report_level=6, halt_level=6, stream=False)
    document = nodes.document(settings, reporter, source=name)
    document.note_source(name, -1)
    parser = Parser(inliner=_Inliner(context, time.monotonic() + LONGEST_PARSE))
    parser.state_classes = _STATES
    try:
        parser.parse(text, document)
        Footnotes(document).apply()
    except RecursionError as error:
        raise UnreadableBook(
            f"{name} is nested too deeply.", "Take some of its levels out."
        ) from error
    except (AssertionError, AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        raise UnreadableBook(
            f"{name} has markup that cannot be parsed.", "Check it with docutils, and put it right."
        ) from error
    return document


@cache
def _settings() -> frontend.Values:
    """Make the settings once: no file is opened, nothing is written out."""
    settings = frontend.get_default_settings(Parser)
    settings.file_insertion_enabled = False
    settings.raw_enabled = False
    settings.report_level = 6
    settings.halt_level = 6
    settings.warning_stream = False
    settings.syntax_highlight = "none"
    settings.line_length_limit = LONGEST_LINE + 1
    settings.auto_id_prefix = "id"  # as Sphinx has it
    return settings


class _Inliner(states.Inliner):
    """Reads roles as this document has them; docutils would keep them for the whole process."""

    def __init__(self, context: RoleContext, deadline: float) -> None:
        super().__init__()
        self.context = context
        self.deadline = deadline

    def parse(
        self, text: str, lineno: int, memo: SimpleNamespace, parent: nodes.Element
    ) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        self._hurry()
        if len(text) > _LONGEST_INLINE:
            return [nodes.Text(unescape(text))], []
        return super().parse(text, lineno, memo, parent)

    def quoted_start(self, match: re.Match[str]) -> bool:
        self._hurry()  # every start of inline markup may look for its end in all that follows
        return super().quoted_start(match)

    def _hurry(self) -> None:
        if time.monotonic() > self.deadline:
            raise UnreadableBook(
                f"A file took longer than {LONGEST_PARSE:.0f} s to parse.", "Split the file."
            )

    def interpreted(
        self, _rawsource: str, text: str, role: str, _lineno: int
    ) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        return role_nodes(role or "", text, self.context), []


# docutils looks for these on the class itself, not on those above it.
for _name, _pattern in vars(states.Inliner).items():
    if isinstance(_pattern, str) and not _name.startswith("__"):
        setattr(_Inliner, _name, _pattern)


def _directive(state: Any, match: Any, **presets: Any) -> Any:
    name = match.group(1)
    return state.run_directive(directive_kind(name), match, name, presets)


class _States(dict[str, Any]):
    """The states of a machine, each made when it is first needed: most never are."""

    def __init__(self, machine: Any, classes: Any) -> None:
        super().__init__()
        self.machine = machine
        self.classes = {kind.__name__: kind for kind in classes}

    def __missing__(self, name: str) -> Any:
        state = self[name] = self.classes[name](self.machine, self.machine.debug)
        if hasattr(self.machine, "memo"):  # else the machine has not begun, and will do this itself
            state.runtime_init()
        return state


class _NestedMachine(states.NestedStateMachine):
    """A machine for what stands inside something else."""

    def add_states(self, state_classes: Any) -> None:
        self.states = _States(self, state_classes)


class _OwnDirectives:
    """Looks directives up with us, in every state that can meet one."""

    nested_sm_cache: list[Any] = []  # noqa: RUF012 - shared by all states, as docutils has it
    nested_sm = _NestedMachine
    directive = _directive
    explicit = SimpleNamespace(
        **{
            **vars(states.Body.explicit),
            "constructs": [
                (_directive if method is states.Body.directive else method, pattern)
                for method, pattern in states.Body.explicit.constructs
            ],
        }
    )

    def __init__(self, state_machine: Any, debug: bool = False) -> None:  # noqa: FBT001, FBT002
        super().__init__(state_machine, debug)  # type: ignore[call-arg]
        self.nested_sm_kwargs = {"state_classes": _STATES, "initial_state": "Body"}

    def isolate_grid_table(self) -> Any:
        block, messages, blank_finish = super().isolate_grid_table()  # type: ignore[misc]
        corners = sum(line.count("+") for line in block)
        if corners > _MOST_CELLS or sum(map(len, block)) > _LARGEST_TABLE:
            return [], self.malformed_table(block), blank_finish  # type: ignore[attr-defined]
        return block, messages, blank_finish


_STATES: tuple[type[states.RSTState], ...] = tuple(
    type(state.__name__, (_OwnDirectives, state), {}) for state in states.state_classes
)
