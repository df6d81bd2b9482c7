package controller

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"k8s.io/client-go/tools/events"

	"commitlab.dev/operator/api/v1alpha1"
	"commitlab.dev/operator/internal/cluster"
	"commitlab.dev/operator/internal/engine"
	"commitlab.dev/operator/internal/engine/fake"
)

// diverged is a server that has shown what its new source does not have.
type diverged struct{ fake.Server }

func (diverged) Follow(context.Context, int64, engine.Source) error {
	return fmt.Errorf("%w: it has shown 7", engine.ErrDiverged)
}

// The event names what becomes of the server, and what a person is to do: nothing where it is cloned anew anyway.
func TestTheEventOfADivergedServerSaysWhatHelps(t *testing.T) {
	for policy, c := range map[string]struct {
		says    string
		command bool
	}{
		v1alpha1.DivergenceQuarantine: {"Save what you need of it; then 'kubectl delete -n ns pvc/data-demo-2 pod/demo-2'", true},
		v1alpha1.DivergenceReclone:    {"it is cloned anew", false},
	} {
		recorder := events.NewFakeRecorder(1)
		v := cluster.View{Namespace: "ns", Policy: cluster.Policy{Divergence: policy}, Servers: []cluster.Server{{Name: "demo-2", Claim: pvcName("demo-2")}}}
		command := cluster.Command{Kind: cluster.CommandFollow, Server: "demo-2", Epoch: 2}
		if (&Reconciler{Recorder: recorder}).executeOne(t.Context(), &v1alpha1.CommitCluster{}, &v, command, diverged{fake.New("demo-2").Server("demo-2")}, access{}) {
			t.Fatal("it has followed")
		}
		said := <-recorder.Events
		if !strings.Contains(said, "it has shown 7") || !strings.Contains(said, c.says) || strings.Contains(said, "kubectl delete") != c.command {
			t.Errorf("%s: %s", policy, said)
		}
	}
}
