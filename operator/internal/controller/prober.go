package controller

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

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
	probing map[types.NamespacedName]bool
}

var (
	_ manager.Runnable               = (*Prober)(nil)
	_ manager.LeaderElectionRunnable = (*Prober)(nil)
)

// NewProber makes a prober; add it to the manager.
func NewProber(c client.Reader, o *Observer, interval time.Duration) *Prober {
	return &Prober{Client: c, Observer: o, Interval: interval,
		changes: make(chan event.GenericEvent, 64), seen: map[types.NamespacedName]string{}, probing: map[types.NamespacedName]bool{}}
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

// probeAll waits for nobody: a cluster whose last probe has not come back is left out this time.
func (p *Prober) probeAll(ctx context.Context) {
	var clusters v1alpha1.CommitClusterList
	if err := p.Client.List(ctx, &clusters); err != nil {
		log.FromContext(ctx).Error(err, "list clusters")
		return
	}
	p.forget(clusters.Items)
	for i := range clusters.Items {
		c := &clusters.Items[i]
		name := client.ObjectKeyFromObject(c)
		if !p.begin(name) {
			continue
		}
		go func() {
			defer p.end(name)
			p.probe(ctx, c)
		}()
	}
}

func (p *Prober) forget(left []v1alpha1.CommitCluster) {
	names := map[types.NamespacedName]bool{}
	for i := range left {
		names[client.ObjectKeyFromObject(&left[i])] = true
	}
	p.mu.Lock()
	maps.DeleteFunc(p.seen, func(name types.NamespacedName, _ string) bool { return !names[name] })
	p.mu.Unlock()
	p.Observer.Forget(left)
}

func (p *Prober) begin(name types.NamespacedName) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.probing[name] {
		return false
	}
	p.probing[name] = true
	return true
}

func (p *Prober) end(name types.NamespacedName) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.probing, name)
}

func (p *Prober) probe(ctx context.Context, c *v1alpha1.CommitCluster) {
	a, known := p.Observer.knownAccess(c)
	if !known {
		return // the protocol's controller asks for it, and says so when there is none
	}
	v, err := p.Observer.Glance(ctx, c, a)
	if err == nil && slices.ContainsFunc(v.Servers, func(s cluster.Server) bool { return s.Denied }) {
		v, err = p.glanceAnew(ctx, c)
	}
	if err != nil {
		log.FromContext(ctx).Error(err, "look at servers", "cluster", client.ObjectKeyFromObject(c))
		return
	}
	plan := cluster.Decide(v)
	if p.changed(client.ObjectKeyFromObject(c), fingerprint(v, plan)) {
		select {
		case p.changes <- event.GenericEvent{Object: c}:
		case <-ctx.Done():
		}
	}
}

// glanceAnew: the Secret may have been put right.
func (p *Prober) glanceAnew(ctx context.Context, c *v1alpha1.CommitCluster) (cluster.View, error) {
	a, err := p.Observer.accessTo(ctx, c)
	if err != nil {
		return cluster.View{}, err
	}
	return p.Observer.Glance(ctx, c, a)
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
	fmt.Fprintln(&b, p.Roles, p.Waiting, p.Rollout, p.Problems, p.Commands, p.Record != nil, v.Unused)
	for _, s := range v.Servers {
		st := s.Status
		fmt.Fprintln(&b, s.Name, s.Address, len(s.Changed), s.Outdated, s.Reachable, st.Role, st.Epoch, st.QuorumVersion, st.WritesBlocked, st.SemisyncClients, st.ReceiverState, st.ApplierState, st.ServerUUID)
	}
	return b.String()
}
