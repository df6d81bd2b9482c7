package plugin

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"commitlab.dev/operator/api/v1alpha1"
)

func newStatusCommand(s *session) *cobra.Command {
	var format output
	cmd := &cobra.Command{
		Use:   "status [CLUSTER]",
		Short: "Show who is master, who must acknowledge, and what is wrong",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := s.cluster(cmd.Context(), args)
			if err != nil {
				return err
			}
			if format == outputJSON {
				return printJSON(s.out, c)
			}
			return PrintStatus(s.out, c)
		},
	}
	format.addTo(cmd)
	return cmd
}

// PrintStatus writes a cluster's status for people.
func PrintStatus(out io.Writer, c *v1alpha1.CommitCluster) error {
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	st := &c.Status
	fmt.Fprintf(w, "Cluster\t%s/%s\n", c.Namespace, c.Name)
	fmt.Fprintf(w, "Phase\t%s\n", orNone(st.Phase))
	fmt.Fprintf(w, "Master\t%s\n", orNone(st.Master))
	fmt.Fprintf(w, "Epoch\t%d\n", st.Epoch)
	if st.Election != nil {
		fmt.Fprintf(w, "Electing\t%s: %s\n", st.Election.Reason, st.Election.Message)
	}
	if st.Quorum != nil {
		fmt.Fprintf(w, "Quorum\t%d of %d replicas acknowledge every transaction (version %d)\n",
			st.Quorum.WaitCount, len(st.Quorum.Members), st.Quorum.Version)
	}
	if n := len(st.PriorQuorums); n > 0 {
		fmt.Fprintf(w, "Prior quorums\t%d still count in an election, until the new one is established\n", n)
	}
	if st.Switchover != nil {
		fmt.Fprintf(w, "Switchover\t%s\n", DescribeSwitchover(st.Switchover))
	}
	if p := st.Promotion; p != nil {
		fmt.Fprintf(w, "Promotion\t%s: %s – %s\n", p.Phase, p.Server, p.Message)
	}
	fmt.Fprintf(w, "Replicas\t%d of %d attached\n", st.ReadyReplicas, c.Spec.Replicas)
	printMembers(w, st.Members)
	printConditions(w, st.Conditions)
	return w.Flush()
}

func printMembers(w io.Writer, members []v1alpha1.MemberStatus) {
	fmt.Fprintln(w, "\nSERVER\tROLE\tCOUNTED\tSERVER UUID\tPROBLEM")
	for _, m := range members {
		counted := "no"
		if m.Synced {
			counted = "yes"
		}
		problem := m.Problem
		if m.Fenced {
			problem = strings.TrimPrefix(problem+"; fenced by hand", "; ")
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", m.Name, orNone(m.Role), counted, m.ServerUUID, problem)
	}
}

func printConditions(w io.Writer, conditions []metav1.Condition) {
	fmt.Fprintln(w, "\nCONDITION\tSTATUS\tREASON\tMESSAGE")
	for _, c := range conditions {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", c.Type, c.Status, c.Reason, c.Message)
	}
}

func orNone(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
