package plugin

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"commitlab.dev/operator/api/v1alpha1"
	"commitlab.dev/operator/internal/cluster"
)

func newFenceCommand(s *session) *cobra.Command {
	return s.fenceCommand(fencing{
		use:   "fence CLUSTER POD",
		short: "Keep a server out, until it is unfenced",
		long: "Keep a server out: it acknowledges and serves nothing any more, is not elected, and its data stay as they are. " +
			"Fencing the master has another one elected, as if it were lost. Others get their roles anew, which closes their clients' sessions.",
		fence: true,
		done:  "%s is fenced\n",
	})
}

func newUnfenceCommand(s *session) *cobra.Command {
	return s.fenceCommand(fencing{
		use:   "unfence CLUSTER POD",
		short: "Let a server in again that was fenced",
		long:  "Let a server in again that was fenced. It follows the master and is counted once it has caught up.",
		done:  "%s is let in again\n",
	})
}

// fencing is one of the two commands.
type fencing struct {
	use, short, long string
	fence            bool
	done             string
}

func (s *session) fenceCommand(f fencing) *cobra.Command {
	var wait bool
	var timeout time.Duration
	cmd := &cobra.Command{Use: f.use, Short: f.short, Long: f.long, Args: cobra.ExactArgs(2)}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		var c *v1alpha1.CommitCluster
		err := retry.RetryOnConflict(retry.DefaultBackoff, func() (err error) {
			if c, err = s.cluster(cmd.Context(), args[:1]); err != nil {
				return err
			}
			return s.setFenced(cmd.Context(), c, args[1], f.fence)
		})
		if err != nil || !wait {
			return err
		}
		ctx, stop := context.WithTimeout(cmd.Context(), timeout)
		defer stop()
		return s.await(ctx, c, func() progress { return f.progress(c, args[1]) })
	}
	cmd.Flags().BoolVar(&wait, "wait", true, "wait until the operator has done it")
	cmd.Flags().DurationVar(&timeout, "timeout", time.Minute, "how long")
	return cmd
}

// setFenced changes the list only as it was read: two people who fence at once both get their way. It is a conflict, too, when the operator
// has written the status since.
func (s *session) setFenced(ctx context.Context, c *v1alpha1.CommitCluster, pod string, fence bool) error {
	fenced, err := cluster.FencedOf(c)
	if err != nil {
		return fmt.Errorf("the annotation %s cannot be read: %w", v1alpha1.AnnotationFenced, err)
	}
	known := slices.ContainsFunc(c.Status.Members, func(m v1alpha1.MemberStatus) bool { return m.Name == pod })
	switch {
	case fence && !known:
		return fmt.Errorf("%s has no server %q: see 'kubectl commitlab status %s'", c.Name, pod, c.Name)
	case !fence && !fenced[pod]:
		return fmt.Errorf("%s is not fenced", pod)
	}
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(fenced)), func(name string) bool { return name == pod })
	if fence {
		names = append(names, pod)
	}
	before := c.DeepCopy()
	if len(names) == 0 {
		delete(c.Annotations, v1alpha1.AnnotationFenced)
	} else {
		text, err := json.Marshal(names)
		if err != nil {
			return err
		}
		metav1.SetMetaDataAnnotation(&c.ObjectMeta, v1alpha1.AnnotationFenced, string(text))
	}
	return s.kube.Patch(ctx, c, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
}

// progress: the server is as it should be, or is not yet.
func (f fencing) progress(c *v1alpha1.CommitCluster, pod string) progress {
	done := slices.ContainsFunc(c.Status.Members, func(m v1alpha1.MemberStatus) bool { return m.Name == pod && m.Fenced == f.fence })
	if !done {
		return progress{}
	}
	return progress{said: []string{fmt.Sprintf(f.done, pod)}, ended: true}
}
