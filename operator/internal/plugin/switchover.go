package plugin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/uuid"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"commitlab.dev/operator/api/v1alpha1"
	"commitlab.dev/operator/internal/cluster"
)

// operatorPatience is how much longer than the deadline the command waits for a word of the operator.
const operatorPatience = 30 * time.Second

func newSwitchoverCommand(s *session) *cobra.Command {
	var to string
	var deadline time.Duration
	var cancel, wait bool
	cmd := &cobra.Command{
		Use:   "switchover [CLUSTER]",
		Short: "Make another server the master, without losing anything",
		Long: "Make another server the master. The target first holds everything that is acknowledged; only then the master is demoted. " +
			"Clients of the former master are disconnected and find the new one behind the same Service.",
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := s.cluster(cmd.Context(), args)
			if err != nil {
				return err
			}
			if cancel {
				return s.withdrawSwitchover(cmd.Context(), c)
			}
			// A time, not a duration: whoever applies this annotation again later asks for nothing.
			request := cluster.SwitchoverRequest{ID: string(uuid.NewUUID()), To: to, Deadline: time.Now().Add(deadline).UTC().Format(time.RFC3339)}
			if err := s.requestSwitchover(cmd.Context(), c, request); err != nil || !wait {
				return err
			}
			ctx, stop := context.WithTimeout(cmd.Context(), deadline+operatorPatience)
			defer stop()
			return s.await(ctx, c, func() progress { return switchoverProgress(c.Status.Switchover, request.ID) })
		},
	}
	cmd.Flags().StringVar(&to, "to", "", "the pod that becomes master (default: a replica that the operator chooses)")
	cmd.Flags().DurationVar(&deadline, "deadline", 30*time.Second, "give up when the target is not ready by then")
	cmd.Flags().BoolVar(&wait, "wait", true, "wait until it has ended, and fail when it has failed")
	cmd.Flags().BoolVar(&cancel, "cancel", false, "withdraw a switchover that has not begun to move")
	return cmd
}

func (s *session) requestSwitchover(ctx context.Context, c *v1alpha1.CommitCluster, r cluster.SwitchoverRequest) error {
	if under := c.Status.Switchover; under != nil && !under.Ended() {
		return fmt.Errorf("a switchover from %s to %s is under way (%s): wait for it, or withdraw it with --cancel", under.From, under.To, under.Phase)
	}
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return s.annotate(ctx, c, v1alpha1.AnnotationSwitchover, string(text))
}

func (s *session) withdrawSwitchover(ctx context.Context, c *v1alpha1.CommitCluster) error {
	if c.Annotations[v1alpha1.AnnotationSwitchover] == "" {
		return errors.New("no switchover is asked for")
	}
	return s.annotate(ctx, c, v1alpha1.AnnotationSwitchover, nil)
}

func (s *session) annotate(ctx context.Context, c *v1alpha1.CommitCluster, name string, value any) error {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": map[string]any{name: value}}})
	if err != nil {
		return err
	}
	return s.kube.Patch(ctx, c, client.RawPatch("application/merge-patch+json", patch))
}

func switchoverProgress(under *v1alpha1.SwitchoverStatus, id string) progress {
	if under == nil || under.ID != id {
		return progress{}
	}
	now := progress{said: []string{DescribeSwitchover(under) + "\n"}, ended: under.Ended()}
	if under.Ended() && under.Phase != v1alpha1.SwitchoverSucceeded {
		now.failure = fmt.Errorf("the switchover to %s has come to nothing: %s", orNone(under.To), under.Message)
	}
	return now
}

// DescribeSwitchover is a switchover in one line.
func DescribeSwitchover(s *v1alpha1.SwitchoverStatus) string {
	line := fmt.Sprintf("%s: from %s to %s", s.Phase, s.From, orNone(s.To))
	if s.Message != "" {
		line += " – " + s.Message
	}
	return line
}
