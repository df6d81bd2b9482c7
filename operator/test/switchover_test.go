package test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"

	"commitlab.dev/operator/api/v1alpha1"
	"commitlab.dev/operator/internal/plugin"
)

// kubectlCommitlab runs the plugin as a person would, and gives what it prints.
func (s *site) kubectlCommitlab(arguments ...string) (string, error) {
	s.t.Helper()
	path := filepath.Join(s.t.TempDir(), "kubeconfig")
	must(os.WriteFile(path, personsKubeconfig, 0o600))
	var out bytes.Buffer
	command := plugin.NewCommand(&out, &out)
	command.SetArgs(append([]string{"--kubeconfig", path, "--namespace", s.namespace}, arguments...))
	err := command.ExecuteContext(s.t.Context())
	return out.String(), err
}

func TestAPersonSwitchesOver(t *testing.T) {
	s := newSite(t, "demo-0", "demo-1", "demo-2")
	must(kube.Create(t.Context(), demo(s.namespace, 2)))
	s.awaitRoles("demo-0", "demo-1", "demo-2")
	s.awaitCondition(v1alpha1.ConditionReady, true)
	s.world.Write("demo-0", 1)
	led := s.watchLed()
	out, err := s.kubectlCommitlab("switchover", "demo", "--to", "demo-2")
	if err != nil || !strings.Contains(out, "Succeeded: from demo-0 to demo-2") {
		t.Fatalf("%v\n%s", err, out)
	}
	s.awaitRoles("demo-2", "demo-0", "demo-1")
	if way := led(); !slices.Equal(way, []string{"demo-0", "demo-2"}) {
		t.Errorf("clients were led to %v: kube-proxy takes up a second change a second later", way)
	}
	s.awaitCondition(v1alpha1.ConditionDegraded, false)
	if out, err := s.kubectlCommitlab("status", "demo"); err != nil || !strings.Contains(out, "Succeeded: from demo-0 to demo-2") {
		t.Fatalf("%v\n%s", err, out)
	}
	if out, err := s.kubectlCommitlab("switchover", "demo", "--to", "demo-9"); err == nil || !strings.Contains(err.Error(), `no server "demo-9"`) {
		t.Fatalf("%v\n%s", err, out)
	}
	if out, err := s.kubectlCommitlab("switchover", "demo"); err != nil || s.get().Status.Master == "demo-2" {
		t.Fatalf("%v\n%s", err, out)
	}
	if s.world.Broken != "" || len(s.world.Lost()) > 0 {
		t.Fatal(s.world.Broken, s.world.Lost())
	}
}

func TestASwitchoverIsWithdrawn(t *testing.T) {
	s := newSite(t, "demo-0", "demo-1", "demo-2")
	must(kube.Create(t.Context(), demo(s.namespace, 2)))
	s.awaitRoles("demo-0", "demo-1", "demo-2")
	s.awaitCondition(v1alpha1.ConditionReady, true)
	s.world.Isolate("demo-1", true)
	if out, err := s.kubectlCommitlab("switchover", "demo", "--to", "demo-1", "--wait=false"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	s.awaitSwitchover(v1alpha1.SwitchoverCatchingUp)
	if out, err := s.kubectlCommitlab("switchover", "demo", "--to", "demo-2"); err == nil || !strings.Contains(err.Error(), "under way") {
		t.Fatalf("%v\n%s", err, out)
	}
	if out, err := s.kubectlCommitlab("switchover", "demo", "--cancel"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	s.awaitSwitchover(v1alpha1.SwitchoverCancelled)
	if m := s.withRole(v1alpha1.RoleMaster); !slices.Equal(m, []string{"demo-0"}) {
		t.Fatalf("masters: %v", m)
	}
	s.world.Isolate("demo-1", false)
	s.awaitRoles("demo-0", "demo-1", "demo-2")
}

func (s *site) awaitSwitchover(phase string) {
	s.t.Helper()
	s.eventually("switchover "+phase, func() error {
		if now := s.get().Status.Switchover; now == nil || now.Phase != phase {
			return fmt.Errorf("%+v", now)
		}
		return nil
	})
}

func TestAnAnnotationThatCannotBeReadIsSaid(t *testing.T) {
	s := newSite(t, "demo-0", "demo-1")
	must(kube.Create(t.Context(), demo(s.namespace, 1)))
	s.awaitRoles("demo-0", "demo-1")
	s.eventually("annotated", func() error {
		c := s.get()
		c.Annotations = map[string]string{v1alpha1.AnnotationSwitchover: "demo-1"}
		return kube.Update(t.Context(), c)
	})
	s.eventually("it is said", func() error {
		c := meta.FindStatusCondition(s.get().Status.Conditions, v1alpha1.ConditionDegraded)
		if c == nil || !strings.Contains(c.Message, "the switchover that the annotation") {
			return fmt.Errorf("%+v", c)
		}
		return nil
	})
}

func TestScalingDownMovesTheMastershipFirst(t *testing.T) {
	s := newSite(t, "demo-0", "demo-1", "demo-2")
	must(kube.Create(t.Context(), demo(s.namespace, 2)))
	s.awaitRoles("demo-0", "demo-1", "demo-2")
	s.awaitCondition(v1alpha1.ConditionReady, true)
	if out, err := s.kubectlCommitlab("switchover", "demo", "--to", "demo-2"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	s.eventually("scale", func() error {
		c := s.get()
		c.Spec.Replicas = 1
		return kube.Update(t.Context(), c)
	})
	s.awaitAnotherMasterThan("demo-2")
	s.eventually("demo-2 is counted nowhere", func() error {
		st := s.get().Status
		if len(st.Quorum.Members) == 1 && len(st.PriorQuorums) == 0 && st.Master != "demo-2" {
			return nil
		}
		return fmt.Errorf("%+v", st.Record)
	})
}
