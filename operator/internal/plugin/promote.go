package plugin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/uuid"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"commitlab.dev/operator/api/v1alpha1"
	"commitlab.dev/operator/internal/cluster"
)

func newPromoteCommand(s *session) *cobra.Command {
	var accept bool
	var timeout time.Duration
	cmd := &cobra.Command{
		Use:   "promote CLUSTER POD --accept-data-loss",
		Short: "The last resort: make a server the master though what was acknowledged may be lost",
		Long: "Make a server the master when too few servers are left to know what was acknowledged. What it does not have is lost, for good: " +
			"the servers that are missing can acknowledge nothing in the new epoch before they have its data. " +
			"It is refused where a master can be had without losing anything, and while the former one may still run.\n\n" +
			"Without --accept-data-loss nothing is done, and it is said which servers are seen, where their logs end, and which are missing.",
		Example: "  kubectl commitlab promote demo demo-1                     # what would be lost?\n" +
			"  kubectl commitlab promote demo demo-1 --accept-data-loss",
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, stop := context.WithTimeout(cmd.Context(), timeout)
			defer stop()
			c, err := s.cluster(ctx, args[:1])
			if err != nil {
				return err
			}
			return s.promote(ctx, c, cluster.PromotionRequest{ID: string(uuid.NewUUID()), Server: args[1], Epoch: c.Status.Epoch, AcceptDataLoss: accept})
		},
	}
	cmd.Flags().BoolVar(&accept, "accept-data-loss", false, "do it, whatever is lost")
	cmd.Flags().DurationVar(&timeout, "timeout", time.Minute, "how long the operator is waited for")
	return cmd
}

// promote asks, follows what becomes of it, and takes the request away again: nothing that loses data is left lying about.
func (s *session) promote(ctx context.Context, c *v1alpha1.CommitCluster, r cluster.PromotionRequest) error {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if err := s.annotate(ctx, c, v1alpha1.AnnotationPromote, string(text)); err != nil {
		return err
	}
	err = s.await(ctx, c, func() progress { return promotionProgress(c.Status.Promotion, r.ID) })
	return errors.Join(err, s.withdraw(context.WithoutCancel(ctx), c, v1alpha1.AnnotationPromote, string(text)))
}

// withdraw takes a request away, if it is there still: somebody else's may stand in its place.
func (s *session) withdraw(ctx context.Context, c *v1alpha1.CommitCluster, annotation, text string) error {
	path := "/metadata/annotations/" + strings.ReplaceAll(annotation, "/", "~1")
	patch, err := json.Marshal([]map[string]string{{"op": "test", "path": path, "value": text}, {"op": "remove", "path": path}})
	if err != nil {
		return err
	}
	err = s.kube.Patch(ctx, c, client.RawPatch(types.JSONPatchType, patch))
	if apierrors.IsInvalid(err) { // what the API server says to a test that fails
		return nil
	}
	return err
}

// promotionProgress tells first what may be lost, then how it has ended; a request that was not carried out is an error.
func promotionProgress(p *v1alpha1.PromotionStatus, id string) progress {
	if p == nil || p.ID != id {
		return progress{}
	}
	now := progress{said: []string{whatMayBeLost(p)}, ended: p.Ended()}
	switch {
	case !p.Ended():
	case p.Phase == v1alpha1.PromotionSucceeded:
		now.said = append(now.said, p.Phase+": "+p.Message+"\n")
	case p.Phase == v1alpha1.PromotionAssessed:
		now.failure = fmt.Errorf("nothing was done: to make %s the master all the same, say --accept-data-loss", p.Server)
	default:
		now.failure = fmt.Errorf("%s was not promoted: %s", p.Server, p.Message)
	}
	return now
}

// whatMayBeLost is a table of whose logs are known.
func whatMayBeLost(p *v1alpha1.PromotionStatus) string {
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "SERVER\tLAST EPOCH\tHOLDS")
	for _, s := range p.Seen {
		fmt.Fprintf(w, "%s\t%d\t%s\n", s.Name, s.LastLogEpoch, orNone(s.GTIDLogged))
	}
	for _, m := range p.Missing {
		fmt.Fprintf(w, "%s\t?\t? (%s)\n", m.Name, m.Why)
	}
	_ = w.Flush() // into memory
	return text.String()
}
