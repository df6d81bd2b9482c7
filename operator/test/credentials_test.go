package test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"commitlab.dev/operator/api/v1alpha1"
)

func (s *site) setKeys(name string, values map[string]string) {
	s.t.Helper()
	found := s.secret(name)
	found.StringData = values
	must(kube.Update(s.t.Context(), found))
}

// startedWith are the Secrets with the passwords that pods mount.
func (s *site) startedWith() (names []string) {
	for pod := range s.servers() {
		found := &corev1.Pod{}
		err := kube.Get(s.t.Context(), types.NamespacedName{Namespace: s.namespace, Name: pod}, found)
		if apierrors.IsNotFound(err) {
			names = append(names, "a pod that has just gone")
			continue
		}
		must(err)
		names = append(names, found.Spec.Volumes[0].Secret.SecretName)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func TestOtherPasswordsOfTheBuiltInAccountsTakeARollingRestart(t *testing.T) {
	s := newSite(t, "demo-0", "demo-1", "demo-2")
	must(kube.Create(t.Context(), demo(s.namespace, 2)))
	s.awaitRoles("demo-0", "demo-1", "demo-2")
	s.awaitCondition(v1alpha1.ConditionReady, true)
	if got := s.startedWith(); !slices.Equal(got, []string{"demo-credentials-1"}) {
		t.Errorf("servers were started with %v, which anybody may edit", got)
	}
	copied := s.secret("demo-credentials-1")
	copied.StringData = map[string]string{"operator-password": "mine"}
	if err := kube.Update(t.Context(), copied); err == nil || !strings.Contains(err.Error(), "immutable") {
		t.Errorf("a copy can be changed: %v", err)
	}
	s.world.Write("demo-0", 1)

	s.setKeys("demo-credentials", map[string]string{"root-password": "another"})
	s.look()
	s.awaitConfiguration(metav1.ConditionTrue, "Use ALTER USER")
	if got := s.startedWith(); !slices.Equal(got, []string{"demo-credentials-1"}) {
		t.Errorf("servers are started again with %v for what they do not read", got)
	}

	s.setKeys("demo-credentials", map[string]string{"operator-password": "another", "replication-password": "one more"})
	s.look()
	s.eventually("every server has them", func() error {
		if got := s.startedWith(); !slices.Equal(got, []string{"demo-credentials-2"}) || len(s.servers()) != 3 {
			return fmt.Errorf("%v", got)
		}
		return nil
	})
	s.awaitCondition(v1alpha1.ConditionReady, true)
	s.awaitCondition(v1alpha1.ConditionProgressing, false)
	s.awaitConfiguration(metav1.ConditionTrue, "can be used")
	if now := s.secret("demo-credentials-2").Data; string(now["operator-password"]) != "another" || string(now["replication-password"]) != "one more" {
		t.Errorf("%v", now)
	}
	if said := s.events("CredentialsChanged"); len(said) != 1 {
		t.Errorf("%v", said)
	}
	s.isWhole()
}

func TestTheApplicationsPasswordIsGivenToTheMaster(t *testing.T) {
	s := newSite(t, "demo-0", "demo-1")
	must(kube.Create(t.Context(), demo(s.namespace, 1)))
	s.awaitRoles("demo-0", "demo-1")
	s.eventually("accounts", func() error {
		if got := s.get().Status.AccountsRevision; got == "" {
			return fmt.Errorf("none yet")
		}
		return nil
	})
	before := s.get().Status.AccountsRevision
	s.setKeys("demo-app", map[string]string{"username": "shop", "password": "another"})
	s.look()
	s.eventually("another user", func() error {
		if got, now := s.world.Accounts("demo-0"), s.get().Status.AccountsRevision; !slices.Contains(got, "shop") || now == before {
			return fmt.Errorf("%v %s", got, now)
		}
		return nil
	})
}
