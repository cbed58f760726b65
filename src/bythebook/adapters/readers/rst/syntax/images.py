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
        alt = self.get_option("alt")
        is_repeated = first is not None and first.astext().strip() == alt
        image = nodes.image("", uri=self.argument, alt="" if is_repeated else alt)
        figure = nodes.container("", *self.make_target(), image)
        for node in content:
            figure += nodes.caption("", "", *node.children) if node is first else node
        return [figure]
