"""Turns the nested list of a list-table into a table."""

from collections.abc import Sequence

from markdown_it.token import Token

from bythebook.adapters.readers.markdown.syntax.tokens import make_table, make_text


def read_list_table(tokens: Sequence[Token]) -> list[Token]:
    """Return a table whose rows are the outer items and whose cells are the inner ones."""
    rows: list[list[list[Token]]] = []
    depth = 0
    for token in tokens:
        if token.type in {"bullet_list_open", "ordered_list_open"}:
            depth += 1
        elif token.type in {"bullet_list_close", "ordered_list_close"}:
            depth -= 1
        elif token.type == "list_item_open" and depth == 1:
            rows.append([])
        elif token.type == "list_item_open" and depth == 2 and rows:
            rows[-1].append([])
        elif rows and rows[-1]:
            _extend_cell(rows[-1][-1], token)
    return make_table(rows)


def _extend_cell(cell: list[Token], token: Token) -> None:
    if token.type == "inline":
        children = token.children or []
    elif token.type in {"fence", "code_block", "math_block"}:
        children = make_text(token.content.strip())
    else:
        return
    cell.extend([*make_text(" "), *children] if cell else children)
