#!/bin/sh
# vulncheck-test.sh GOVULNCHECK PROGRAM: vulncheck.sh fails when it must and only then, by databases made here.
set -eu
cd "$(dirname "$0")"
db=$(mktemp -d)
trap 'rm -rf "$db"' EXIT
mkdir "$db/index" "$db/ID"
echo '{"modified":"2024-01-01T00:00:00Z"}' >"$db/index/db.json"

expect() {
  wanted=$1 text=$2
  shift 2
  code=0
  said=$(env "$@" 2>&1) || code=$?
  if [ "$code" != "$wanted" ] || ! echo "$said" | grep -q "$text"; then
    echo "$*: exit code $code instead of $wanted, without '$text': $said" >&2
    exit 1
  fi
}

echo '[]' >"$db/index/modules.json"
expect 0 'nothing known' VULNDB="file://$db" ./vulncheck.sh "$@"
expect 0 'not checked' HTTPS_PROXY=http://127.0.0.1:1 ./vulncheck.sh "$@"
expect 1 'fetching' STRICT=1 HTTPS_PROXY=http://127.0.0.1:1 ./vulncheck.sh "$@"
expect 1 'is not a file' VULNDB="file://$db" ./vulncheck.sh "$1" "$db/nothing"
module=github.com/go-sql-driver/mysql
echo '[{"path":"'$module'","vulns":[{"id":"GO-2024-0001","modified":"2024-01-01T00:00:00Z"}]}]' >"$db/index/modules.json"
cat >"$db/ID/GO-2024-0001.json" <<END
{"schema_version":"1.3.1","id":"GO-2024-0001","modified":"2024-01-01T00:00:00Z","published":"2024-01-01T00:00:00Z","summary":"made up","details":"made up",
 "affected":[{"package":{"name":"$module","ecosystem":"Go"},"ranges":[{"type":"SEMVER","events":[{"introduced":"0"}]}],
 "ecosystem_specific":{"imports":[{"path":"$module"}]}}],"database_specific":{"url":"https://pkg.go.dev/vuln/GO-2024-0001"}}
END
expect 1 GO-2024-0001 VULNDB="file://$db" ./vulncheck.sh "$@"
