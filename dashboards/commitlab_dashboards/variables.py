"""The variables every dashboard starts with, in this order: data source, namespace, cluster, instance."""

from grafana_foundation_sdk.builders import dashboard as builder
from grafana_foundation_sdk.models import dashboard as model

DATASOURCE = model.DataSourceRef(type_val="prometheus", uid="${datasource}")

# Every query of a server's own metrics selects by these.
SELECTOR = 'namespace=~"$namespace", cluster=~"$cluster", instance=~"$instance"'


def _labels_of(name: str, label: str, selector: str) -> builder.QueryVariable:
    query = f"label_values(commitd_build_info{{{selector}}}, {label})"
    return (
        builder.QueryVariable(name)
        .label(name.capitalize())
        .datasource(DATASOURCE)
        .query({"query": query, "refId": f"variable-{name}"})
        .refresh(model.VariableRefresh.ON_TIME_RANGE_CHANGED)
        .sort(model.VariableSort.ALPHABETICAL_ASC)
        .multi(True)
        .include_all(True)
        .all_value(".*")
        .current(model.VariableOption(selected=True, text="All", value="$__all"))
    )


def standard() -> list:
    return [
        builder.DatasourceVariable("datasource").label("Data source").type("prometheus"),
        _labels_of("namespace", "namespace", ""),
        _labels_of("cluster", "cluster", 'namespace=~"$namespace"'),
        _labels_of("instance", "instance", 'namespace=~"$namespace", cluster=~"$cluster"'),
    ]
