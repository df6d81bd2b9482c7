package controller

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"commitlab.dev/operator/internal/cluster"
	"commitlab.dev/operator/internal/engine"
)

// noteLogins: a server reads its passwords when it starts, from the Secret that its pod mounts.
func (s *stage) noteLogins(pod *corev1.Pod) {
	for _, volume := range pod.Spec.Volumes {
		if volume.Secret != nil && volume.Name == secretsVolume {
			found := &corev1.Secret{}
			s.must(s.store.Get(context.Background(), client.ObjectKey{Namespace: pod.Namespace, Name: volume.Secret.SecretName}, found))
			s.logins[pod.Name] = loginsIn(found)
		}
	}
}

// guarded is a server that takes no other passwords than those. Nobody is to try any.
type guarded struct {
	engine.Server
	stage    *stage
	name     string
	password string
}

func (g guarded) Status(ctx context.Context) (engine.Status, error) {
	if g.password != g.stage.logins[g.name].Operator {
		return engine.Status{}, g.stage.lockedOut("the operator at " + g.name)
	}
	return g.Server.Status(ctx)
}

func (g guarded) Follow(ctx context.Context, epoch int64, source engine.Source) error {
	return errors.Join(g.logsInAt(source), g.Server.Follow(ctx, epoch, source))
}

func (g guarded) Clone(ctx context.Context, uuid string, donor engine.Source) error {
	return errors.Join(g.logsInAt(donor), g.Server.Clone(ctx, uuid, donor))
}

func (g guarded) logsInAt(source engine.Source) error {
	for _, pod := range g.stage.listPods(selectorLabels(g.stage.get())) {
		taken := g.stage.logins[pod.Name]
		if want := map[string]string{engine.OperatorUser: taken.Operator, engine.ReplicationUser: taken.Replication}[source.User]; pod.Status.PodIP == source.Host &&
			source.Password != want {
			return g.stage.lockedOut(fmt.Sprintf("%s at %s", g.name, pod.Name))
		}
	}
	return nil
}

func (s *stage) lockedOut(who string) error {
	s.world.Broken = who + " has the wrong password"
	return engine.ErrDenied
}

// setPasswords is a person's edit of the Secret.
func (s *stage) setPasswords(to cluster.Logins) {
	found := &corev1.Secret{}
	s.must(s.store.Get(context.Background(), client.ObjectKey{Namespace: "shop", Name: "demo-credentials"}, found))
	found.Data = map[string][]byte{keyOperatorPassword: []byte(to.Operator), keyReplicationPassword: []byte(to.Replication), keyRootPassword: found.Data[keyRootPassword]}
	s.must(s.store.Update(context.Background(), found))
}

// allTake says which server was started with other passwords.
func (s *stage) allTake(want cluster.Logins) error {
	for _, pod := range s.listPods(selectorLabels(s.get())) {
		if s.logins[pod.Name] != want {
			return fmt.Errorf("%s has %+v", pod.Name, s.logins[pod.Name])
		}
	}
	return nil
}
