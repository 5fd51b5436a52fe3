#!/bin/sh
# Look whether an advisory is known for any version in constraints.txt.
#
#   tools/audit.sh [PLACE]
#
# pip-audit runs in an environment of its own, in PLACE or for the time being, since nothing here
# needs it. The status is 0 if nothing is known, 1 if something is, and 3 if nobody could be asked:
# that is no finding, and is said so.
set -u
cd "$(dirname "$0")/.."
if [ $# -gt 0 ]; then
  place=$1
else
  place=$(mktemp -d)
  trap 'rm -rf "$place"' EXIT
fi
unknown() {
  echo "NOT AUDITED: $1" >&2
  echo "This says nothing about the versions that are pinned. Run it where the network allows it." >&2
  exit 3
}
if [ ! -x "$place/venv/bin/pip-audit" ]; then
  "${PYTHON:-python3}" -m venv "$place/venv" || unknown "no environment could be made"
  "$place/venv/bin/pip" --disable-pip-version-check install --quiet pip-audit ||
    unknown "pip-audit could not be installed"
fi
for service in default osv; do
  option=$([ "$service" = default ] || echo "--vulnerability-service=$service")
  # What pip-audit cannot look up it only skips, and ends with 0: so what it found is counted.
  # shellcheck disable=SC2086
  timeout 300 "$place/venv/bin/pip-audit" --progress-spinner off $option \
    --no-deps --disable-pip --format json --requirement constraints.txt \
    >"$place/found" 2>"$place/said"
  "$place/venv/bin/python" - "$place/found" "$service" <<'PYTHON'
import json
import sys

try:
    packages = json.load(open(sys.argv[1], encoding="utf-8"))["dependencies"]
except (ValueError, KeyError):
    sys.exit(3)
skipped = [one["name"] for one in packages if "skip_reason" in one]
known = [(one, found["id"]) for one in packages for found in one.get("vulns", ())]
print(f"{sys.argv[2]}: {len(packages) - len(skipped)} of {len(packages)} packages looked up")
for one, advisory in known:
    print(f"{one['name']} {one['version']}: {advisory}")
if known:
    sys.exit(1)
if skipped:
    print(f"not looked up: {', '.join(skipped[:5])}{' …' if len(skipped) > 5 else ''}")
    sys.exit(3)
PYTHON
  status=$?
  [ $status -eq 3 ] || exit $status
  echo "not all advisories can be had (service: $service): $(tail -n 1 "$place/said" | cut -c 1-200)" >&2
done
unknown "no service that has advisories could be reached for all packages"
