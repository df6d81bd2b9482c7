"""Panels with everything the lint asks for: a unit and a description are not optional here."""

from dataclasses import dataclass

from grafana_foundation_sdk.builders import common as common_builder
from grafana_foundation_sdk.builders import dashboard as builder
from grafana_foundation_sdk.builders import prometheus, stat, timeseries
from grafana_foundation_sdk.models import common, dashboard

from .variables import DATASOURCE

STAT_HEIGHT = 4
GRAPH_HEIGHT = 8
FULL_WIDTH = 24


@dataclass(frozen=True)
class Query:
    expr: str
    legend: str


def _targets(queries: list[Query], instant: bool) -> list[prometheus.Dataquery]:
    targets = []
    for index, query in enumerate(queries):
        target = prometheus.Dataquery().expr(query.expr).legend_format(query.legend).ref_id(chr(ord("A") + index)).datasource(DATASOURCE)
        targets.append(target.instant() if instant else target.range())
    return targets


def graph(title: str, description: str, unit: str, *queries: Query, width: int = 12) -> timeseries.Panel:
    """A time series that starts at zero, so that a difference is never exaggerated by the axis."""
    return (
        timeseries.Panel()
        .title(title)
        .description(description)
        .datasource(DATASOURCE)
        .unit(unit)
        .min(0)
        .height(GRAPH_HEIGHT)
        .span(width)
        .line_width(1)
        .fill_opacity(10)
        .show_points(common.VisibilityMode.NEVER)
        .legend(
            common_builder.VizLegendOptions()
            .display_mode(common.LegendDisplayMode.TABLE)
            .placement(common.LegendPlacement.BOTTOM)
            .show_legend(True)
            .calcs(["mean", "max", "lastNotNull"])
        )
        .tooltip(common_builder.VizTooltipOptions().mode(common.TooltipDisplayMode.MULTI).sort(common.SortOrder.DESCENDING))
        .targets(_targets(list(queries), instant=False))
    )


def number(title: str, description: str, unit: str, query: Query, width: int = 4, decimals: int | None = None) -> stat.Panel:
    """One figure: the value now."""
    panel = (
        stat.Panel()
        .title(title)
        .description(description)
        .datasource(DATASOURCE)
        .unit(unit)
        .height(STAT_HEIGHT)
        .span(width)
        .color_mode(common.BigValueColorMode.NONE)
        .graph_mode(common.BigValueGraphMode.NONE)
        .reduce_options(common_builder.ReduceDataOptions().calcs(["lastNotNull"]))
        .targets(_targets([query], instant=True))
    )
    return panel if decimals is None else panel.decimals(decimals)


def alarm(title: str, description: str, query: Query, meaning: dict[str, tuple[str, str]], width: int = 4) -> stat.Panel:
    """A figure of which each value has a word and a colour, such as 0 = open (green), 1 = blocked (red)."""
    mapping = dashboard.ValueMap(
        options={
            value: dashboard.ValueMappingResult(text=text, color=color, index=index)
            for index, (value, (text, color)) in enumerate(meaning.items())
        }
    )
    return number(title, description, "none", query, width).mappings([mapping]).color_mode(common.BigValueColorMode.BACKGROUND)


def row(title: str) -> builder.Row:
    return builder.Row(title).datasource(DATASOURCE)
