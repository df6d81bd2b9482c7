package cluster

import (
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"commitlab.dev/operator/api/v1alpha1"
)

// resizable is a cluster of four whose pods and volumes follow, one by one, as the test says.
func resizable(t *testing.T) *lab {
	l := bootstrapped(t, deletingVolumes(requiredPolicy(3)), "c-0", "c-1", "c-2", "c-3")
	l.sized = true
	return l
}

// settle lets an operator work until it has nothing to do; pods and volumes stay as they are.
func (l *lab) settle(t *testing.T) {
	t.Helper()
	l.sized = false
	l.operate(t)
	l.sized = true
}

// A pod that takes long to end stands beyond one whose volume is being deleted already. Were it counted again, the other pod would be
// made on that volume.
func TestNobodyJoinsBeyondAVolumeThatIsBeingDeleted(t *testing.T) {
	l := resizable(t)
	l.policy.Replicas = 1
	l.settle(t)
	l.resize("c-2")
	l.settle(t)
	if len(l.record.Released) != 1 || l.ended["c-3"] {
		t.Fatalf("%+v", l.record)
	}
	l.policy.Replicas = 3
	l.settle(t)
	if count := PodCount(l.policy, &l.record); count != 2 {
		t.Fatalf("%d pods, and the volume of c-2 is not gone: %+v", count, l.record)
	}
	l.resize("c-3")
	l.deleteReleased("c-2")
	l.settle(t)
	for _, name := range []string{"c-2", "c-3"} {
		l.resize(name)
	}
	l.operate(t)
	l.mustServe(t)
	if len(l.record.Released) > 0 || PodCount(l.policy, &l.record) != 4 {
		t.Fatalf("%+v", l.record)
	}
}

// isCloning is a cluster whose last server was to get another one's data, and is too many now.
func isCloning(t *testing.T) *lab {
	l := resizable(t)
	l.world.Kill("c-3")
	l.world.Wipe("c-3")
	l.world.Start("c-3")
	for len(l.record.Clones) == 0 {
		l.world.Run()
		p := l.decide()
		if p.plan.Record == nil {
			t.Fatalf("%+v", p.plan)
		}
		l.persist(p)
	}
	l.policy.Replicas = 2
	return l
}

func progressingReason(l *lab) string {
	v := l.view()
	conditions := Summarize(v, Decide(v)).Conditions
	return conditions[slices.IndexFunc(conditions, func(c metav1.Condition) bool { return c.Type == v1alpha1.ConditionProgressing })].Reason
}

func TestTheVolumeOfAServerThatWasBeingClonedIsDeletedToo(t *testing.T) {
	l := isCloning(t)
	l.settle(t)
	l.resize("c-3")
	l.settle(t)
	if len(l.record.Clones) > 0 || len(l.record.Released) != 1 || l.record.Released[0].Name != "c-3" {
		t.Fatalf("%+v", l.record)
	}
	l.operate(t)
	if len(l.record.Released) > 0 || !l.deleted["c-3"] {
		t.Fatalf("%+v", l.record)
	}
	l.mustServe(t)
}

// Where volumes stay the clone is gone on with when the cluster is larger again, and until then nothing is under way.
func TestAServerThatIsTooManyIsNotBeingCloned(t *testing.T) {
	l := isCloning(t)
	l.policy.DeleteVolumes = false
	l.settle(t)
	l.resize("c-3")
	l.settle(t)
	if reason := progressingReason(l); len(l.record.Clones) != 1 || strings.Contains(reason, "Cloning") {
		t.Fatalf("%s: %+v", reason, l.record)
	}
	l.policy.Replicas = 3
	l.operate(t)
	l.mustServe(t)
	if len(l.record.Clones) > 0 {
		t.Fatalf("%+v", l.record)
	}
}
