"""The files by which the service is deployed name what is there, and stand together."""

import configparser
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.deploy.go_templates import Chart

import bythebook
from bythebook.adapters.operations.prometheus_metrics import PrometheusMetrics
from bythebook.settings import PREFIX, Settings

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
CHART = DEPLOY / "helm" / "bythebook"
FILES = sorted(path for path in DEPLOY.rglob("*") if path.is_file())
LARGE: dict[str, Any] = {
    "autoscaling": {"enabled": True, "minReplicas": 2, "maxReplicas": 6, "cpuPercent": 70},
    "publicUrl": "https://book.example.org",
    "firstKeySecret": "first",
    "settingsSecret": "servers",
    "settings": {"BYTHEBOOK_LIMIT_IP": 30},
    "storage": {"size": "1Gi", "accessMode": "ReadWriteMany", "className": "shared"},
    "ingress": {"enabled": True, "className": "nginx", "host": "b.example", "tlsSecret": "tls"},
}


def load(path: Path) -> dict[str, Any]:
    value: dict[str, Any] = yaml.safe_load(path.read_text("utf-8"))
    return value


@pytest.mark.parametrize("path", [*FILES, ROOT / "Dockerfile"], ids=lambda path: path.name)
def test_every_variable_is_a_setting(path: Path) -> None:
    named = set(re.findall(rf"{PREFIX}([A-Z_]+)", path.read_text("utf-8")))
    assert named <= {name.upper() for name in Settings.model_fields}


def test_the_image_holds_only_what_it_copies_and_runs_as_nobody_special() -> None:
    text = (ROOT / "Dockerfile").read_text("utf-8")
    ignored = (ROOT / ".dockerignore").read_text("utf-8").split()
    copied = re.findall(r"^COPY (?!--from)(.+) \S+$", text, re.MULTILINE)
    for name in " ".join(copied).split():
        assert (ROOT / name).exists()
        assert f"!{name}" in ignored
    assert "USER bythebook" in text
    assert "HEALTHCHECK" in text


# Compose


def compose(*names: str) -> dict[str, Any]:
    """Read compose files, each over the one before."""
    merged: dict[str, Any] = {}
    for name in names:
        merged = merge(merged, load(DEPLOY / name))
    return merged


def merge(one: Any, other: Any) -> Any:
    if isinstance(one, dict) and isinstance(other, dict):
        return one | {name: merge(one.get(name), value) for name, value in other.items()}
    return other


@pytest.mark.parametrize(
    "names",
    [
        ("compose.yaml",),
        ("compose.postgres.yaml",),
        ("compose.postgres.yaml", "compose.qdrant.yaml"),
    ],
    ids=" ".join,
)
def test_compose_files_name_what_they_declare(names: tuple[str, ...]) -> None:
    whole = compose(*names)
    services: Mapping[str, Any] = whole["services"]
    for name, service in services.items():
        volumes = [one.split(":")[0] for one in service.get("volumes", ())]
        for volume in volumes:
            declared = volume in whole["volumes"] or (DEPLOY / volume).exists()
            assert declared, (name, volume)
        assert set(service.get("secrets", ())) <= set(whole["secrets"])
        assert set(service.get("depends_on", ())) <= set(services)
    ours = [one for name, one in services.items() if name.startswith("bythebook")]
    assert ours
    for service in ours:
        assert service["read_only"] is True
        assert service["cap_drop"] == ["ALL"]
        assert service["environment"]["BYTHEBOOK_FIRST_KEY_FILE"] == "/run/secrets/first_key"


def test_two_processes_share_database_limits_and_books() -> None:
    services = compose("compose.postgres.yaml", "compose.qdrant.yaml")["services"]
    one, two = services["bythebook-1"], services["bythebook-2"]
    assert one == two
    assert {"BYTHEBOOK_DATABASE_URL", "BYTHEBOOK_REDIS_URL", "BYTHEBOOK_QDRANT_URL"} <= set(
        one["environment"]
    )
    assert one["volumes"] == ["data:/data"]
    assert {"bythebook-1:8000", "bythebook-2:8000"} == set(
        services["caddy"]["environment"]["UPSTREAMS"].split()
    )


# Kubernetes


def manifests(values: Mapping[str, Any]) -> dict[str, Any]:
    """Render the chart: its manifests by kind."""
    chart = Chart(
        {
            "Values": merge(load(CHART / "values.yaml"), values),
            "Release": {"Name": "books"},
            "Chart": {"AppVersion": load(CHART / "Chart.yaml")["appVersion"]},
        }
    )
    files = sorted((CHART / "templates").iterdir())  # names begin with an underscore
    text = "\n---\n".join(chart.render(path.read_text("utf-8")) for path in files)
    return {one["kind"]: one for one in yaml.safe_load_all(text) if one}


def test_the_chart_is_of_this_version() -> None:
    assert load(CHART / "Chart.yaml")["appVersion"] == bythebook.__version__


def test_a_small_release_is_one_pod_with_a_volume_of_its_own() -> None:
    found = manifests({})
    assert set(found) == {"Deployment", "Service", "PersistentVolumeClaim"}
    spec = found["Deployment"]["spec"]
    assert spec["replicas"] == 1
    assert spec["strategy"]["type"] == "Recreate"
    (container,) = spec["template"]["spec"]["containers"]
    assert container["image"] == f"bythebook:{bythebook.__version__}"
    assert container["securityContext"]["readOnlyRootFilesystem"] is True


def test_a_large_release_scales_migrates_and_rolls() -> None:
    found = manifests(LARGE)
    assert set(found) == {
        "Deployment",
        "Service",
        "PersistentVolumeClaim",
        "PodDisruptionBudget",
        "HorizontalPodAutoscaler",
        "Ingress",
    }
    deployment = found["Deployment"]
    assert "replicas" not in deployment["spec"]
    assert deployment["spec"]["strategy"]["rollingUpdate"] == {"maxUnavailable": 0, "maxSurge": 1}
    pod = deployment["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    variables = {one["name"]: one["value"] for one in container["env"]}
    assert variables["BYTHEBOOK_FIRST_KEY_FILE"] == "/run/secrets/first-key/key"
    assert variables["BYTHEBOOK_LIMIT_IP"] == "30"
    assert pod["initContainers"][0]["args"] == ["migrate"]
    assert int(variables["BYTHEBOOK_GRACE_SECONDS"]) < pod["terminationGracePeriodSeconds"]
    assert {one["name"] for one in container["volumeMounts"]} == {
        one["name"] for one in pod["volumes"]
    }
    claim = found["PersistentVolumeClaim"]
    assert claim["metadata"]["name"] == pod["volumes"][0]["persistentVolumeClaim"]["claimName"]
    labels = deployment["spec"]["template"]["metadata"]["labels"]
    assert found["Service"]["spec"]["selector"] == labels
    assert found["PodDisruptionBudget"]["spec"]["selector"]["matchLabels"] == labels
    assert (
        found["HorizontalPodAutoscaler"]["spec"]["scaleTargetRef"]["name"]
        == deployment["metadata"]["name"]
    )


def test_the_probes_are_health_routes() -> None:
    (container,) = manifests({})["Deployment"]["spec"]["template"]["spec"]["containers"]
    kinds = ("startupProbe", "livenessProbe", "readinessProbe")
    probes = [container[kind]["httpGet"]["path"] for kind in kinds]
    assert probes == ["/livez", "/livez", "/readyz"]


# Units and monitoring


def test_the_unit_starts_the_service_with_little_power() -> None:
    unit = configparser.RawConfigParser(strict=False)
    unit.optionxform = str  # type: ignore[assignment,method-assign]
    unit.read_string((DEPLOY / "systemd" / "bythebook.service").read_text("utf-8"))
    service = unit["Service"]
    assert service["ExecStart"].endswith("bythebook serve")
    assert (service["DynamicUser"], service["ProtectSystem"]) == ("yes", "strict")
    assert int(service["TimeoutStopSec"]) > Settings.model_fields["grace_seconds"].default


def expressions() -> Iterator[str]:
    for group in load(DEPLOY / "monitoring" / "alerts.yaml")["groups"]:
        yield from (rule["expr"] for rule in group["rules"])
    board = json.loads((DEPLOY / "monitoring" / "grafana-dashboard.json").read_text("utf-8"))
    yield from (target["expr"] for panel in board["panels"] for target in panel["targets"])


def test_rules_and_dashboard_ask_for_numbers_that_are_counted() -> None:
    page, _ = PrometheusMetrics().write_page([])
    kinds = dict(re.findall(r"^# TYPE (\S+) (\S+)$", page.decode(), re.MULTILINE))
    known = set(kinds) | {
        f"{name}{end}"
        for name, kind in kinds.items()
        if kind == "histogram"
        for end in ("_bucket", "_sum", "_count")
    }
    asked = set(re.findall(r"(?:bythebook|process)_[a-z_]+", " ".join(expressions())))
    assert len(asked) >= 10
    assert asked <= known
