"""Grafana dashboards of commitlab, built by typed code and written to generated/."""
