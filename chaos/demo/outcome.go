package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"commitlab.dev/demo/stage"
)

// outcome is what the demo shows in the end.
type outcome struct {
	clusterReady time.Duration
	took         time.Duration
	killed       string
	newMaster    string
	epochBefore  int64
	epochAfter   int64
	commits      commitPath
	verdict      stage.Verdict
}

// good says whether everything happened and nothing acknowledged was lost.
func (o outcome) good() bool {
	return o.verdict.Good() &&
		len(o.verdict.Faults) > 0 && o.newMaster != "" && o.newMaster != o.killed && o.epochAfter > o.epochBefore
}

func (o outcome) describeMaster() string {
	return fmt.Sprintf("%s, epoch %d after %d", o.newMaster, o.epochAfter, o.epochBefore)
}

func (o outcome) print(out io.Writer, t tools) {
	line := func(name, format string, args ...any) {
		fmt.Fprintf(out, "  %-16s %s\n", name, fmt.Sprintf(format, args...))
	}
	fmt.Fprintln(out)
	line("Kubernetes", "ready in %.1f s; the whole demo took %.0f s", o.clusterReady.Seconds(), o.took.Seconds())
	line("master killed", "%s", o.killed)
	line("new master", "%s", o.describeMaster())
	for _, f := range o.verdict.Faults {
		line("RTO", "%.1f s from the last commit before to the first after, by %s", f.RTOSeconds, f.RecoveredBy)
	}
	line("acknowledged", "%d", o.verdict.Acknowledged)
	line("lost", "%d", o.verdict.Lost)
	line("duplicated", "%d", o.verdict.Duplicated)
	line("indeterminate", "%d (no answer when the master died: such a commit may be there or not)", o.verdict.Indeterminate)
	line("servers equal", "%s", describeServers(o.verdict.Servers))
	line("verdict", "%s", strings.Join(append([]string{o.verdict.Result}, o.verdict.Reasons...), ": "))
	line("commit path", "%.0f transactions/s on %s after the failover, %.1f per group, %.2f fdatasync each",
		o.commits.perSecond, o.newMaster, o.commits.perGroup, o.commits.syncsEach)
	fmt.Fprintln(out, "\nWhere to look (until `make demo-down`):")
	line("kubectl", "export KUBECONFIG=%s PATH=%s:$PATH", t.Kubeconfig, t.Path("build", "bin"))
	line("", "kubectl get commitcluster,pods -o wide; kubectl commitlab status %s", clusterName)
	line("Prometheus", "%s", t.prometheusURL())
	line("dashboards", "%s (import into Grafana; in the cluster as ConfigMaps labelled grafana_dashboard)", t.Path("dashboards", "generated"))
	line("ledger", "curl %s/verdict", t.ledgerURL())
	line("regressions", "make regressions flips each classic regression's switch under load, on processes of this machine")
}

func describeServers(servers []stage.Server) string {
	equal := 0
	var wrong []string
	for _, s := range servers {
		if s.Equal {
			equal++
		} else {
			wrong = append(wrong, strings.TrimSpace(s.Name+" is not: "+s.Error))
		}
	}
	return strings.Join(append([]string{fmt.Sprintf("%d of %d", equal, len(servers))}, wrong...), "; ")
}
