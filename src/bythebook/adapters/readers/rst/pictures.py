"""Directives that show a picture."""

from docutils import nodes

from bythebook.adapters.readers.rst.directives import Argued


class Image(Argued):
    """A picture."""

    def run(self) -> list[nodes.Node]:
        """Give what stands for the picture; the name of a substitution says nothing."""
        alt = self.option("alt")
        is_given = ":alt:" in self.block_text
        image = nodes.image("", uri=self.argument, alt=alt if is_given else "")
        return [*self.named(), image]


class Figure(Argued):
    """A picture with a caption and a legend."""

    def run(self) -> list[nodes.Node]:
        """Give the caption's words once, then the legend."""
        content = self.parsed()
        first = next((node for node in content if isinstance(node, nodes.paragraph)), None)
        image = nodes.image("", uri=self.argument, alt=self.option("alt"))
        figure = nodes.container("", *self.named())
        if first is None or first.astext().strip() != self.option("alt"):
            figure += image
        for node in content:
            figure += nodes.caption("", "", *node.children) if node is first else node
        return [figure]
