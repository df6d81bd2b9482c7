package controller

import (
	"maps"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"commitlab.dev/operator/api/v1alpha1"
	"commitlab.dev/operator/internal/cluster"
	"commitlab.dev/operator/internal/engine"
)

// connections are names only.
type connections map[string]bool

func (c connections) Connect(t engine.Target) (engine.Server, error) {
	c[t.Name] = true
	return nil, nil
}

func (c connections) Forget(keep func(name string) bool) {
	maps.DeleteFunc(c, func(name string, _ bool) bool { return !keep(name) })
}

func called(name, uid string) *v1alpha1.CommitCluster {
	return &v1alpha1.CommitCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, UID: types.UID(uid)}}
}

func TestOfAClusterThatIsGoneNothingIsRemembered(t *testing.T) {
	open := connections{}
	o := &Observer{Engines: open, accesses: map[types.UID]access{"1": {}, "2": {logins: map[string]cluster.Logins{"theirs": {Operator: "other"}}}}}
	gone, stays, longer := called("demo", "1"), called("stays", "2"), called("demo-2", "3")
	for _, c := range []*v1alpha1.CommitCluster{gone, stays, longer} {
		if _, err := o.Engines.Connect(engine.Target{Name: serverKey(c, c.Name+"-0")}); err != nil {
			t.Fatal(err)
		}
		o.remember(c, &cluster.View{Servers: []cluster.Server{{Name: c.Name + "-0"}}}, nil)
	}
	again := called("demo", "4")
	o.Forget([]v1alpha1.CommitCluster{*stays, *longer, *again})
	if got := slices.Sorted(maps.Keys(o.seen)); !slices.Equal(got, []types.UID{"2", "3"}) {
		t.Errorf("servers of %v are remembered as lost", got)
	}
	if len(o.accesses) != 1 || o.accesses["2"].logins["theirs"].Operator != "other" {
		t.Errorf("accesses: %v", o.accesses)
	}
	o.Forget([]v1alpha1.CommitCluster{*stays})
	if got := slices.Sorted(maps.Keys(open)); !slices.Equal(got, []string{"shop/stays/stays-0"}) {
		t.Errorf("still connected: %v", got)
	}
}

func TestAServerIsLostFromTheFirstLookThatDoesNotReachIt(t *testing.T) {
	o := &Observer{Engines: connections{}}
	c := called("demo", "1")
	look := func(name string, reachable bool) time.Time {
		o.remember(c, &cluster.View{Servers: []cluster.Server{{Name: name, Reachable: reachable}}}, nil)
		return o.seen[c.UID].lostFrom[name]
	}
	first := look("demo-0", false)
	if again := look("demo-0", false); first.IsZero() || !again.Equal(first) {
		t.Errorf("lost from %v, and then from %v", first, again)
	}
	if reached := look("demo-0", true); !reached.IsZero() {
		t.Error("it is reached, and lost all the same")
	}
	second := look("demo-0", false)
	if !second.After(first) {
		t.Error("it was reached meanwhile")
	}
	look("demo-1", false) // demo-0 is not asked for any more
	if third := look("demo-0", false); !third.After(second) {
		t.Error("a pod that comes again is counted from when its predecessor was lost")
	}
}
