package plugin

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"commitlab.dev/operator/api/v1alpha1"
)

// awaitPoll is how often a command looks whether the operator has done what it asks for.
const awaitPoll = 200 * time.Millisecond

// progress is what a cluster's status says of what a command has asked for.
type progress struct {
	// said is everything that there is to say so far. What has been printed is not printed again.
	said []string
	// ended, and as what.
	ended   bool
	failure error
}

// await looks at the cluster until what was asked for has ended, and prints how it goes on.
func (s *session) await(ctx context.Context, c *v1alpha1.CommitCluster, look func() progress) error {
	printed := map[string]bool{}
	for {
		if err := s.kube.Get(ctx, client.ObjectKeyFromObject(c), c); err != nil {
			return fmt.Errorf("it goes on without this command, see 'kubectl commitlab status': %w", err)
		}
		now := look()
		for _, text := range now.said {
			if !printed[text] {
				printed[text] = true
				fmt.Fprint(s.out, text)
			}
		}
		if now.ended {
			return now.failure
		}
		select {
		case <-ctx.Done():
			return errors.New("no word of the operator in time: is it running? See 'kubectl commitlab status' for how it goes on")
		case <-time.After(awaitPoll):
		}
	}
}
