"""The monitoring chart renders what Prometheus accepts, carries every dashboard and rule, and refuses wrong values."""

import subprocess

import pytest
import yaml

from .test_lint import DASHBOARD_FILES
from .test_rules import HERE, PROMTOOL

CHART = HERE.parent / "charts" / "commitlab-monitoring"
HELM = HERE.parent / "build" / "bin" / "helm"


OPERATOR_CHART = HERE.parent / "charts" / "commitlab"


def helm(*settings: str, chart=CHART) -> subprocess.CompletedProcess:
    arguments = [argument for setting in settings for argument in ("--set", setting)]
    return subprocess.run(
        [HELM, "template", "m", chart, "--namespace", "monitoring", *arguments], capture_output=True, text=True, check=False
    )


def render(*settings: str, chart=CHART) -> list[dict]:
    result = helm(*settings, chart=chart)
    assert result.returncode == 0, result.stderr
    return [d for d in yaml.safe_load_all(result.stdout) if d]


def config_maps(documents: list[dict]) -> dict[str, dict]:
    return {d["metadata"]["name"]: d for d in documents if d["kind"] == "ConfigMap"}


def prometheus_config(*settings: str) -> dict:
    return yaml.safe_load(config_maps(render(*settings))["prometheus"]["data"]["prometheus.yaml"])


def test_every_dashboard_is_a_config_map_for_grafanas_sidecar():
    maps = config_maps(render())
    for path in DASHBOARD_FILES:
        config_map = maps[f"commitlab-dashboard-{path.stem}"]
        assert config_map["metadata"]["labels"]["grafana_dashboard"] == "1"
        assert config_map["data"] == {path.name: path.read_text()}


def test_rules_are_shipped_unchanged():
    shipped = config_maps(render())["prometheus-rules"]["data"]
    assert shipped == {p.name: p.read_text() for p in (HERE / "rules").glob("*.yaml")}


def test_prometheus_accepts_its_configuration(tmp_path):
    config = prometheus_config()
    config["rule_files"] = [str(HERE / "rules" / "*.yaml")]
    file = tmp_path / "prometheus.yaml"
    file.write_text(yaml.safe_dump(config))
    result = subprocess.run([PROMTOOL, "check", "config", file], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize("discovery", ["dns", "kubernetes"])
def test_servers_get_the_labels_that_dashboards_select_by(discovery):
    jobs = {j["job_name"]: j for j in prometheus_config(f"prometheus.discovery={discovery}")["scrape_configs"]}
    labels = {r.get("target_label") for r in jobs["commitd"]["relabel_configs"]}
    assert {"namespace", "cluster", "instance"} <= labels


def test_the_operator_is_found_and_speaks_of_other_namespaces():
    jobs = {j["job_name"]: j for j in prometheus_config("prometheus.discovery=kubernetes")["scrape_configs"]}
    assert jobs["annotated-pods"]["honor_labels"] is True
    deployment = next(d for d in render(chart=OPERATOR_CHART) if d["kind"] == "Deployment")
    pod = deployment["spec"]["template"]
    port = next(p["containerPort"] for p in pod["spec"]["containers"][0]["ports"] if p["name"] == "metrics")
    assert pod["metadata"]["annotations"] == {"prometheus.io/scrape": "true", "prometheus.io/port": str(port)}


def test_dns_discovery_asks_for_every_cluster():
    names = ["prometheus.clusters[0].name=a", "prometheus.clusters[0].namespace=x"]
    jobs = {j["job_name"]: j for j in prometheus_config("prometheus.discovery=dns", *names)["scrape_configs"]}
    assert jobs["commitd"]["dns_sd_configs"][0]["names"] == ["_http._tcp.a.x.svc.cluster.local"]


def test_prometheus_takes_what_load_generators_write():
    deployment = next(d for d in render() if d["kind"] == "Deployment")
    assert "--web.enable-remote-write-receiver" in deployment["spec"]["template"]["spec"]["containers"][0]["args"]
    service = next(d for d in render() if d["kind"] == "Service")
    assert service["spec"]["ports"][0]["nodePort"] == 30090


def test_only_rules_and_dashboards_without_prometheus():
    assert {d["kind"] for d in render("prometheus.enabled=false")} == {"ConfigMap"}


@pytest.mark.parametrize(
    "setting",
    ["prometheus.scrapeInterval=5m", "prometheus.discovery=magic", "prometheus.service.nodePort=0", "promethius.enabled=true"],
)
def test_wrong_values_are_refused(setting):
    result = helm(setting)
    assert result.returncode != 0 and setting.split("=")[0].split(".")[0] in result.stderr
