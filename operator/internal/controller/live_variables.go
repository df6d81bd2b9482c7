package controller

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"commitlab.dev/operator/api/v1alpha1"
	"commitlab.dev/operator/internal/cluster"
	"commitlab.dev/operator/internal/engine"
)

// knownVariables is what servers have said about variables: which can only be set at start, and what they made of those that
// were set. It may be forgotten: then they are asked again.
type knownVariables struct {
	mu      sync.Mutex
	atStart map[atStart]bool
	taken   map[taken]string
}

type atStart struct {
	cluster types.UID
	flag    string
}

type taken struct {
	cluster, pod types.UID
	setting      string
}

func (k *knownVariables) onlyAtStart(cluster types.UID, flag string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.atStart[atStart{cluster, flag}]
}

func (k *knownVariables) noteAtStart(cluster types.UID, flag string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.atStart == nil {
		k.atStart = map[atStart]bool{}
	}
	k.atStart[atStart{cluster, flag}] = true
}

func (k *knownVariables) valueOf(of taken) (string, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	value, known := k.taken[of]
	return value, known
}

func (k *knownVariables) noteTaken(of taken, value string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.taken == nil {
		k.taken = map[taken]string{}
	}
	k.taken[of] = value
}

// forget drops what is known of clusters that are gone.
func (k *knownVariables) forget(left func(cluster types.UID) bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	maps.DeleteFunc(k.atStart, func(of atStart, _ bool) bool { return !left(of.cluster) })
	maps.DeleteFunc(k.taken, func(of taken, _ string) bool { return !left(of.cluster) })
}

func (l *live) taken(flag string, asked *string) taken {
	if asked != nil {
		flag += "=" + *asked
	}
	return taken{l.cluster, l.pod, flag}
}

// means says whether a server's value is the one that was asked for, whichever way each is written.
func means(value string, asked *string) bool {
	if asked == nil {
		return false // the default is the server's secret
	}
	a, errA := strconv.ParseFloat(value, 64)
	b, errB := strconv.ParseFloat(*asked, 64)
	return strings.EqualFold(asOnOff(value), asOnOff(*asked)) || (errA == nil && errB == nil && a == b)
}

func asOnOff(value string) string {
	switch strings.ToLower(value) {
	case "1", "true", "yes":
		return "ON"
	case "0", "false", "no":
		return "OFF"
	}
	return value
}

// applyVariables gives running servers the variables that have changed since their pods were made, and reads each one back. It
// says whether it has learned that some can only be set at start: then there is something to decide.
func (r *Reconciler) applyVariables(ctx context.Context, c *v1alpha1.CommitCluster, v cluster.View, p *cluster.Plan, a access) bool {
	reach := r.Observer.reach(c, a)
	learned := false
	applied := map[string][]string{}
	for i := range v.Servers {
		s := &v.Servers[i]
		serves := s.Reachable && (s.Status.Role == engine.RoleMaster || s.Status.Role == engine.RoleReplica)
		server := reach(s)
		if len(s.Changed) == 0 || !serves || server == nil || s.Leaving {
			continue
		}
		l := live{known: &r.Observer.variables, cluster: c.UID, pod: types.UID(s.PodUID), server: server}
		now, err := l.apply(ctx, s.Changed)
		if err != nil {
			p.Report(s.Name, "variables cannot be set: "+err.Error())
		}
		learned = learned || l.learned
		for _, set := range now {
			applied[set] = append(applied[set], s.Name)
		}
	}
	for _, set := range slices.Sorted(maps.Keys(applied)) {
		r.Recorder.Eventf(c, nil, corev1.EventTypeNormal, "VariableSet", "Reconcile", "%s on %s", set, strings.Join(applied[set], ", "))
	}
	return learned
}

// live sets the variables of one server.
type live struct {
	known        *knownVariables
	cluster, pod types.UID
	server       engine.Server
	learned      bool
}

// apply gives what was set, as people write it.
func (l *live) apply(ctx context.Context, changed map[string]*string) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, commandTimeout)
	defer cancel()
	var flags, names []string
	for _, flag := range slices.Sorted(maps.Keys(changed)) {
		if !l.known.onlyAtStart(l.cluster, flag) {
			flags, names = append(flags, flag), append(names, variableOf(flag))
		}
	}
	if len(flags) == 0 {
		return nil, nil
	}
	values, err := l.server.GlobalVariables(ctx, names)
	if err != nil {
		return nil, err
	}
	var done []string
	var errs []error
	for i, flag := range flags {
		value, there := values[names[i]]
		made, known := l.known.valueOf(l.taken(flag, changed[flag]))
		if there && (means(value, changed[flag]) || (known && made == value)) {
			continue
		}
		now, err := l.set(ctx, flag, changed[flag])
		switch {
		case errors.Is(err, engine.ErrStatic):
			l.known.noteAtStart(l.cluster, flag)
			l.learned = true
		case err != nil:
			errs = append(errs, fmt.Errorf("%s: %w", names[i], err))
		default:
			done = append(done, names[i]+" = "+now)
		}
	}
	return done, errors.Join(errs...)
}

// set asks for a value and gives what the server has made of it.
func (l *live) set(ctx context.Context, flag string, asked *string) (string, error) {
	name := variableOf(flag)
	if err := l.server.SetGlobal(ctx, name, asked); err != nil {
		return "", err
	}
	values, err := l.server.GlobalVariables(ctx, []string{name})
	if err != nil {
		return "", err
	}
	l.known.noteTaken(l.taken(flag, asked), values[name])
	return values[name], nil
}
