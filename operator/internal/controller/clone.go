package controller

import (
	"context"
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"commitlab.dev/operator/api/v1alpha1"
	"commitlab.dev/operator/internal/cluster"
	"commitlab.dev/operator/internal/engine"
)

// clones are the CLONE statements that this process has under way: each waits for as long as the copy takes, beside everything else.
// It may be forgotten: a server that is asked a second time says that it is at it, and one that has not begun begins.
type clones struct {
	mu sync.Mutex
	of map[types.UID]map[string]*cloning
	// synchronous waits for each, for tests.
	synchronous bool
}

// cloning is one pod's: under way, or how it ended.
type cloning struct {
	done   bool
	failed string
}

// clone starts the statement, if none is under way for that pod.
func (r *Reconciler) clone(ctx context.Context, c *v1alpha1.CommitCluster, command cluster.Command, server engine.Server, logins cluster.Logins) {
	if server == nil || !r.clones.begin(c.UID, command.PodUID) {
		return
	}
	// The copy outlives the reconciliation, and what it reads of the cluster is its own.
	c = c.DeepCopy()
	ctx = context.WithoutCancel(ctx)
	run := func() {
		err := cluster.Execute(ctx, command, server, logins)
		commands.WithLabelValues(string(command.Kind), outcome(err)).Inc()
		log.FromContext(ctx).Info("cloned", "command", command.String(), "error", fmt.Sprint(err))
		if r.clones.end(c.UID, command.PodUID, err) {
			r.Recorder.Eventf(c, nil, corev1.EventTypeWarning, "CloneFailed", "Clone", "%s from %s: %s", command.Server, command.Source.Host, err.Error())
		}
	}
	if r.clones.synchronous {
		run()
		return
	}
	go run()
}

func (k *clones) begin(cluster types.UID, pod string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.of == nil {
		k.of = map[types.UID]map[string]*cloning{}
	}
	if k.of[cluster] == nil {
		k.of[cluster] = map[string]*cloning{}
	}
	before := k.of[cluster][pod]
	if before != nil && !before.done {
		return false
	}
	now := &cloning{}
	if before != nil {
		now.failed = before.failed
	}
	k.of[cluster][pod] = now
	return true
}

// end says whether people have to be told: of a failure that is not the one before.
func (k *clones) end(cluster types.UID, pod string, err error) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	one := k.of[cluster][pod]
	if one == nil {
		return err != nil
	}
	before := one.failed
	one.done, one.failed = true, ""
	if err != nil {
		one.failed = err.Error()
	}
	return err != nil && before != one.failed
}

// failure is how the last one of a pod ended, if it failed.
func (k *clones) failure(cluster types.UID, pod string) string {
	k.mu.Lock()
	defer k.mu.Unlock()
	if one := k.of[cluster][pod]; one != nil {
		return one.failed
	}
	return ""
}

// forget drops a cluster in which nothing is under way.
func (k *clones) forget(cluster types.UID) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.of, cluster)
}

// describeClones asks how far each is, for people. Only tens of percents: each is a write of the status.
func (r *Reconciler) describeClones(ctx context.Context, c *v1alpha1.CommitCluster, v *cluster.View, p *cluster.Plan, a access) {
	reach := r.Observer.reach(c, a)
	for i := range v.Record.Clones {
		s := serverNamed(*v, v.Record.Clones[i].Name)
		if failed := r.clones.failure(c.UID, s.PodUID); failed != "" {
			p.Report(s.Name, "it cannot be given the data of another server: "+failed)
		}
		progress := ""
		if server := reach(s); server != nil && s.Reachable {
			progress = progressOf(ctx, server)
		}
		v.Record.Clones[i].Progress = progress
	}
	c.Status.Clones = v.Record.Clones
}

func progressOf(ctx context.Context, server engine.Server) string {
	ctx, cancel := context.WithTimeout(ctx, statusTimeout)
	defer cancel()
	done, estimate, err := server.CloneProgress(ctx)
	if err != nil || estimate <= 0 {
		return ""
	}
	return fmt.Sprintf("%d%% of %d MiB", min(done*10/estimate, 10)*10, estimate>>20)
}
