"""Tables, SVG charts and page parts that reports share: pure functions from values to text.

Every chart is one ``<svg>`` as text, the same bytes for the same values: with a title and a description, every foreign
text escaped, no script, no style attribute and nothing to load. Colours come from ``stylesheet()``, which a page has to
include once; it follows the reader's dark mode, or ``data-theme="dark"`` or ``"light"`` on the page's root.

    draw = lambda width: scatter(points, SIZE, "alpha_nDCG@10", title="…", about="…", lines=oracles, width=width)
    twin = points_table("…", points, "alpha_nDCG@10", SIZE, oracles)
    html = figure(draw, caption="95 % bootstrap intervals over 203 queries", twin=twin)

``figure`` draws twice, for a desk and for a phone, and keeps the same numbers below as a table.
"""

from freshstack_datasets.report.bars import Bar, Part, bars, bars_table
from freshstack_datasets.report.figures import figure, stylesheet
from freshstack_datasets.report.grid import Ranked, grid_key, grid_table, nugget_grid
from freshstack_datasets.report.heat import Row, heat_map, heat_table
from freshstack_datasets.report.history import history
from freshstack_datasets.report.matrix import matrix_table, tau_matrix
from freshstack_datasets.report.numbers import (
    MISSING,
    interval_text,
    p_text,
    rank_text,
    score_text,
    share_text,
    signed_text,
    size_text,
    tau_text,
    time_text,
)
from freshstack_datasets.report.points import LATENCY, NARROW, SIZE, WIDE, Axis, Line, Point, points_table
from freshstack_datasets.report.ranking import ranking
from freshstack_datasets.report.scatter import pareto, scatter
from freshstack_datasets.report.tables import Column, Link, link, table
from freshstack_datasets.report.text import escaped, plain
from freshstack_datasets.report.writing import bibtex, csv_text

__all__ = [
    "LATENCY",
    "MISSING",
    "NARROW",
    "SIZE",
    "WIDE",
    "Axis",
    "Bar",
    "Column",
    "Line",
    "Link",
    "Part",
    "Point",
    "Ranked",
    "Row",
    "bars",
    "bars_table",
    "bibtex",
    "csv_text",
    "escaped",
    "figure",
    "grid_key",
    "grid_table",
    "heat_map",
    "heat_table",
    "history",
    "interval_text",
    "link",
    "matrix_table",
    "nugget_grid",
    "p_text",
    "pareto",
    "plain",
    "points_table",
    "rank_text",
    "ranking",
    "scatter",
    "score_text",
    "share_text",
    "signed_text",
    "size_text",
    "stylesheet",
    "table",
    "tau_matrix",
    "tau_text",
    "time_text",
]
