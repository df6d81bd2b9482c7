"""python -m commitlab_dashboards [--check]: write generated/*.json, or fail when they are not what the code says."""

import argparse
import json
import sys
from pathlib import Path

from grafana_foundation_sdk.cog.encoder import JSONEncoder

from . import commit_path, recovery_tests, regressions

GENERATED = Path(__file__).resolve().parent.parent / "generated"
DASHBOARDS = {"commit-path.json": commit_path.build, "recovery-tests.json": recovery_tests.build, "regressions.json": regressions.build}


def render(build) -> str:
    return json.dumps(build().build(), cls=JSONEncoder, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="change nothing; fail when a file differs")
    check = parser.parse_args().check
    stale = []
    for name, build in DASHBOARDS.items():
        path, content = GENERATED / name, render(build)
        if check and (not path.exists() or path.read_text() != content):
            stale.append(name)
        elif not check:
            path.write_text(content)
    stale += [path.name for path in GENERATED.glob("*.json") if path.name not in DASHBOARDS]
    if stale:
        print(f"{', '.join(stale)} in {GENERATED.name}/ is not what the code says: run make -C dashboards generate", file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
