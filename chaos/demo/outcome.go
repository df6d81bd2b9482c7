package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
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
	test         recoveryTest
	page         string // with the verdict
}

// good says whether everything happened and nothing acknowledged was lost.
func (o outcome) good() bool {
	return o.test.passed() &&
		len(o.test.Status.Faults) > 0 && o.newMaster != "" && o.newMaster != o.killed && o.epochAfter > o.epochBefore
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
	status := o.test.Status
	for _, f := range status.Faults {
		line("RTO", "%s from the last commit before %s to the first after: %s", seconds(f.RTO), f.Name, f.RecoveredBy)
	}
	line("acknowledged", "%d", status.Acknowledged)
	line("lost", "%s", number(status.Lost))
	line("duplicated", "%s", number(status.Duplicated))
	line("indeterminate", "%d (no answer when the master died: such a commit may be there or not)", status.Indeterminate)
	line("servers equal", "%s", describeServers(status.Servers))
	line("verdict", "%s", strings.TrimSuffix(status.Verdict+": "+status.Message, ": "))
	line("commit path", "%.0f transactions/s on %s after the failover, %.1f per group, %.2f fdatasync each",
		o.commits.perSecond, o.newMaster, o.commits.perGroup, o.commits.syncsEach)
	fmt.Fprintln(out, "\nWhere to look (until `make demo-down`):")
	line("kubectl", "export KUBECONFIG=%s PATH=%s:$PATH", t.Kubeconfig, t.Path("build", "bin"))
	line("", "kubectl get commitcluster,pods -o wide; kubectl commitlab status %s", clusterName)
	line("Prometheus", "%s", t.prometheusURL())
	line("dashboards", "%s (import into Grafana; in the cluster as ConfigMaps labelled grafana_dashboard)", t.Path("dashboards", "generated"))
	line("verdict", "%s", o.page)
	line("", "kubectl describe recoverytest %s", testName)
	line("regressions", "make regressions flips each classic regression's switch under load, on processes of this machine")
}

// number that may not be known.
func number(n *int) string {
	if n == nil {
		return "not known"
	}
	return strconv.Itoa(*n)
}

func describeServers(servers []testServer) string {
	equal := 0
	var wrong []string
	for _, s := range servers {
		if s.Equal {
			equal++
		} else {
			wrong = append(wrong, strings.TrimSpace(s.Name+" is not: "+s.Message))
		}
	}
	return strings.Join(append([]string{fmt.Sprintf("%d of %d", equal, len(servers))}, wrong...), "; ")
}
