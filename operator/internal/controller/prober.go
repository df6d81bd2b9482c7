package controller

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"commitlab.dev/operator/api/v1alpha1"
	"commitlab.dev/operator/internal/cluster"
)

// Prober looks at every cluster again and again, outside the work queue, so that one slow reconciliation hides nobody
// else's failure. It decides nothing: it only calls for a reconciliation when there would be something to do.
type Prober struct {
	Client   client.Reader
	Observer *Observer
	Interval time.Duration

	changes chan event.GenericEvent
	mu      sync.Mutex
	seen    map[types.NamespacedName]string
}

var (
	_ manager.Runnable               = (*Prober)(nil)
	_ manager.LeaderElectionRunnable = (*Prober)(nil)
)

// NewProber makes a prober; add it to the manager.
func NewProber(c client.Reader, o *Observer, interval time.Duration) *Prober {
	return &Prober{Client: c, Observer: o, Interval: interval,
		changes: make(chan event.GenericEvent, 64), seen: map[types.NamespacedName]string{}}
}

// Changes carries the clusters that call for a reconciliation.
func (p *Prober) Changes() <-chan event.GenericEvent { return p.changes }

// NeedLeaderElection: only the operator that may act looks.
func (p *Prober) NeedLeaderElection() bool { return true }

// Start probes until the manager stops.
func (p *Prober) Start(ctx context.Context) error {
	tick := time.NewTicker(p.Interval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			p.probeAll(ctx)
		}
	}
}

func (p *Prober) probeAll(ctx context.Context) {
	var clusters v1alpha1.CommitClusterList
	if err := p.Client.List(ctx, &clusters); err != nil {
		log.FromContext(ctx).Error(err, "list clusters")
		return
	}
	var wait sync.WaitGroup
	for i := range clusters.Items {
		wait.Go(func() { p.probe(ctx, &clusters.Items[i]) })
	}
	wait.Wait()
}

func (p *Prober) probe(ctx context.Context, c *v1alpha1.CommitCluster) {
	var secret corev1.Secret
	if err := p.Observer.Reader.Get(ctx, types.NamespacedName{Namespace: c.Namespace, Name: credentialsSecret(c)}, &secret); err != nil {
		return
	}
	v, err := p.Observer.View(ctx, c, string(secret.Data[keyOperatorPassword]))
	if err != nil {
		log.FromContext(ctx).Error(err, "look at servers", "cluster", client.ObjectKeyFromObject(c))
		return
	}
	plan := cluster.Decide(v)
	if p.changed(client.ObjectKeyFromObject(c), fingerprint(v, plan)) || plan.Record != nil || len(plan.Commands) > 0 {
		select {
		case p.changes <- event.GenericEvent{Object: c}:
		case <-ctx.Done():
		}
	}
}

func (p *Prober) changed(name types.NamespacedName, now string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	before := p.seen[name]
	p.seen[name] = now
	return before != now
}

// fingerprint changes with everything that the status or the labels depend on, and not with mere traffic.
func fingerprint(v cluster.View, p cluster.Plan) string {
	var b strings.Builder
	fmt.Fprintln(&b, p.Roles, p.Waiting, p.Problems)
	for _, s := range v.Servers {
		st := s.Status
		fmt.Fprintln(&b, s.Name, s.Address, s.Reachable, st.Role, st.Epoch, st.QuorumVersion, st.WritesBlocked, st.SemisyncClients, st.ReceiverState)
	}
	return b.String()
}
