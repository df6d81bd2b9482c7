package plugin

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"commitlab.dev/operator/api/v1alpha1"
	"commitlab.dev/operator/internal/recovery"
)

// recoveryProgress prints each step of a test once.
type recoveryProgress struct {
	out    io.Writer
	phase  string
	faults map[string]string
	told   time.Time
}

// countEvery is how often somebody who waits is told how many commits there are.
const countEvery = 10 * time.Second

func newRecoveryProgress(out io.Writer) *recoveryProgress {
	return &recoveryProgress{out: out, faults: map[string]string{}}
}

func (p *recoveryProgress) show(t *v1alpha1.RecoveryTest) {
	if t.Status.Phase != p.phase || time.Since(p.told) > countEvery {
		p.phase, p.told = t.Status.Phase, time.Now()
		p.line(t, orNone(t.Status.Phase)+": "+t.Status.Message)
	}
	for _, f := range t.Status.Faults {
		if p.faults[f.Name] == f.Phase {
			continue
		}
		if p.faults[f.Name] = f.Phase; f.Phase != v1alpha1.FaultPlanned {
			p.line(t, describeFault(f))
		}
	}
}

func (p *recoveryProgress) line(t *v1alpha1.RecoveryTest, text string) {
	since := time.Duration(0)
	if t.Status.StartTime != nil {
		since = time.Since(t.Status.StartTime.Time)
	}
	fmt.Fprintf(p.out, "%6.0fs  %s\n", since.Seconds(), text)
}

func describeFault(f v1alpha1.FaultStatus) string {
	text := fmt.Sprintf("%s: %s %s", f.Name, f.Phase, strings.Join(objectNames(f), ", "))
	switch {
	case f.Phase == v1alpha1.FaultInjected && len(f.Evidence) > 0:
		text += " (" + strings.Join(f.Evidence, "; ") + ")"
	case f.RTO != nil:
		text += fmt.Sprintf(", RTO %s, %s", f.RTO.Duration, f.RecoveredBy)
	case f.Message != "":
		text += ": " + f.Message
	}
	return text
}

func objectNames(f v1alpha1.FaultStatus) []string {
	var names []string
	for _, o := range f.Objects {
		names = append(names, o.Name)
	}
	return names
}

// PrintRecoveryTest writes what a test has found for people.
func PrintRecoveryTest(out io.Writer, t *v1alpha1.RecoveryTest) error {
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	st := &t.Status
	fmt.Fprintf(w, "Test\t%s/%s of CommitCluster %s\n", t.Namespace, t.Name, t.Spec.Cluster.Name)
	fmt.Fprintf(w, "Phase\t%s\n", orNone(st.Phase))
	fmt.Fprintf(w, "Verdict\t%s\n", orNone(string(st.Verdict)))
	if st.Message != "" {
		fmt.Fprintf(w, "\t%s\n", st.Message)
	}
	if st.Seed != nil {
		fmt.Fprintf(w, "Faults by\t%s, seed %d\n", st.Injector, *st.Seed)
	}
	fmt.Fprintf(w, "Acknowledged\t%s\n", number(st.Acknowledged))
	fmt.Fprintf(w, "Lost\t%s\n", number(st.Lost))
	fmt.Fprintf(w, "Duplicated\t%s\n", number(st.Duplicated))
	fmt.Fprintf(w, "Indeterminate\t%s (no answer came: such a commit may be there or not)\n", number(st.Indeterminate))
	fmt.Fprintf(w, "Longest RTO\t%s\n", duration(st.MaxRTO))
	printFaults(w, st.Faults)
	printServers(w, st)
	for _, l := range st.LostCommits {
		fmt.Fprintf(w, "lost\t%s\n", recovery.DescribeLost(l))
	}
	return w.Flush()
}

func printFaults(w io.Writer, faults []v1alpha1.FaultStatus) {
	if len(faults) == 0 {
		return
	}
	fmt.Fprintln(w, "\nFAULT\tKIND\tOF\tPHASE\tRTO\tRECOVERED BY\tREPLAYED ROWS\tRECOVERY")
	for _, f := range faults {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", f.Name, f.Kind, orNone(strings.Join(objectNames(f), ",")), f.Phase,
			duration(f.RTO), orNone(f.RecoveredBy), number(f.ReplayedRows), duration(f.RecoveryTime))
	}
}

func printServers(w io.Writer, st *v1alpha1.RecoveryTestStatus) {
	if len(st.Servers) > 0 {
		fmt.Fprintln(w, "\nSERVER\tROWS\tAS THE MASTER\tMESSAGE")
	}
	for _, s := range st.Servers {
		fmt.Fprintf(w, "%s\t%d\t%t\t%s\n", s.Name, s.Rows, s.Equal, s.Message)
	}
	if len(st.Epochs) > 0 {
		fmt.Fprintln(w, "\nEPOCH\tACKNOWLEDGED BY\tFIRST\tLAST")
	}
	for _, e := range st.Epochs {
		fmt.Fprintf(w, "%d\t%s\t%s\t%s\n", e.Epoch, e.ServerUUID, clock(e.FirstOK), clock(e.LastOK))
	}
}

func clock(t metav1.MicroTime) string { return t.UTC().Format("15:04:05.000") }

func number(n *int64) string {
	if n == nil {
		return "-"
	}
	return fmt.Sprint(*n)
}

func duration(d *metav1.Duration) string {
	if d == nil {
		return "-"
	}
	return d.Duration.String()
}
