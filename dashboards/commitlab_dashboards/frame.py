"""What every dashboard has around its panels: links, variables, rows, marks over all graphs."""

from itertools import count

from grafana_foundation_sdk.builders import dashboard as builder
from grafana_foundation_sdk.cog import builder as cog
from grafana_foundation_sdk.models import dashboard as model

from . import variables
from .panels import row

# How far apart a mark's query looks: what changed since the last time is marked once.
MARK_STEP = "15s"


def dashboard(title: str, uid: str, description: str) -> builder.Dashboard:
    return (
        builder.Dashboard(title)
        .uid(uid)
        .description(description)
        .tags(["commitlab"])
        .timezone("browser")
        .refresh("10s")
        .time("now-15m", "now")
        .tooltip(model.DashboardCursorSync.CROSSHAIR)
        .readonly()
        .link(
            builder.DashboardLink("commitlab")
            .type(model.DashboardLinkType.DASHBOARDS)
            .tags(["commitlab"])
            .as_dropdown(True)
            .include_vars(True)
            .keep_time(True)
        )
        .variables(variables.standard())
    )


def with_sections(result: builder.Dashboard, sections: dict[str, list]) -> builder.Dashboard:
    ids = count(1)
    for title, panels in sections.items():
        result.with_row(row(title).id(next(ids)))
        for panel in panels:
            result.with_panel(panel.id(next(ids)))
    return result


class PrometheusMark(model.AnnotationQuery):
    """An annotation with what the Prometheus data source adds to Grafana's own fields."""

    def __init__(self, title: str, text: str, **fields):
        super().__init__(datasource=variables.DATASOURCE, enable=True, **fields)
        self.title, self.text = title, text

    def to_json(self) -> dict[str, object]:
        return {**super().to_json(), "titleFormat": self.title, "textFormat": self.text, "step": MARK_STEP}


class Mark(cog.Builder[model.AnnotationQuery]):
    """A line over all graphs wherever the query has a value."""

    def __init__(self, name: str, color: str, expr: str, title: str, text: str):
        self._mark = PrometheusMark(title, text, name=name, icon_color=color, expr=expr)

    def build(self) -> model.AnnotationQuery:
        return self._mark


def since_last_step(metric: str, comparison: str) -> str:
    """Where a gauge is not what it was a step before."""
    return f"{metric} {comparison} {metric} offset {MARK_STEP}"
