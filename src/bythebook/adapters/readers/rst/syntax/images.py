"""Directives for images."""

from docutils import nodes

from bythebook.adapters.readers.rst.syntax.directives import ArgumentDirective


class ImageDirective(ArgumentDirective):
    """An image."""

    def run(self) -> list[nodes.Node]:
        """Return the image with its alternative text; ignore the default from a substitution name."""
        alt = self.get_option("alt")
        is_given = ":alt:" in self.block_text
        image = nodes.image("", uri=self.argument, alt=alt if is_given else "")
        return [*self.make_target(), image]


class FigureDirective(ArgumentDirective):
    """An image with a caption and a legend."""

    def run(self) -> list[nodes.Node]:
        """Return the caption once, then the legend."""
        content = self.parse_content()
        first = next((node for node in content if isinstance(node, nodes.paragraph)), None)
        image = nodes.image("", uri=self.argument, alt=self.get_option("alt"))
        figure = nodes.container("", *self.make_target())
        if first is None or first.astext().strip() != self.get_option("alt"):
            figure += image
        for node in content:
            figure += nodes.caption("", "", *node.children) if node is first else node
        return [figure]
