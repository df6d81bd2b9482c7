package controller

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"commitlab.dev/operator/api/v1alpha1"
	"commitlab.dev/operator/internal/cluster"
	"commitlab.dev/operator/internal/engine"
)

// electing is a look at a cluster whose master does not answer: so many of its replicas are fenced in the epoch.
func electing(epoch int64, fenced int) *cluster.View {
	v := &cluster.View{Servers: []cluster.Server{{Name: "c-0"}}, Record: v1alpha1.Record{Epoch: epoch, Master: "c-0",
		Election: &v1alpha1.ElectionStatus{StartedAt: metav1.Unix(epoch, 0)},
		Quorum:   &v1alpha1.QuorumStatus{Epoch: 1, MasterUUID: "u0", Members: []string{"u1", "u2"}, WaitCount: 1},
		Members: []v1alpha1.MemberStatus{{Name: "c-0", ServerUUID: "u0", PVCUID: "p0"},
			{Name: "c-1", ServerUUID: "u1", PVCUID: "p1"}, {Name: "c-2", ServerUUID: "u2", PVCUID: "p2"}}}}
	for i, name := range []string{"c-1", "c-2"} {
		status := engine.Status{Role: engine.RoleReplica, Epoch: 1, ServerUUID: "u" + name[2:], GTIDLogged: "x"}
		if i < fenced {
			status.Role, status.Epoch = engine.RoleFenced, epoch
		}
		v.Servers = append(v.Servers, cluster.Server{Name: name, PVCUID: "p" + name[2:], Reachable: true, Status: status})
	}
	return v
}

func TestALeaseIsCountedFromWhenEnoughAreFenced(t *testing.T) {
	start := time.Now()
	e := &elapsed{}
	for _, look := range []struct {
		what   string
		view   *cluster.View
		at     time.Duration
		counts time.Duration
	}{
		{"one of two", electing(2, 1), 0, 0},
		{"both", electing(2, 2), 10 * time.Second, 0},
		{"a second later", electing(2, 2), 11 * time.Second, time.Second},
		{"one has gone: what it has promised, it keeps", electing(2, 1), 12 * time.Second, 2 * time.Second},
		{"another claim", electing(3, 1), 13 * time.Second, 0},
		{"is counted anew", electing(3, 2), 14 * time.Second, 0},
		{"a look with an old record, whose epoch the servers have left", electing(2, 1), 15 * time.Second, 0},
		{"takes nothing away", electing(3, 2), 15 * time.Second, time.Second},
	} {
		e.note(look.view, nil, start.Add(look.at))
		if look.view.CoveredFor != look.counts {
			t.Errorf("%s: counted for %s, want %s", look.what, look.view.CoveredFor, look.counts)
		}
	}
	elected := electing(3, 2)
	elected.Record.Election = nil
	e.note(elected, nil, start.Add(time.Hour))
	another := electing(3, 2)
	(&elapsed{}).note(another, nil, start.Add(time.Hour))
	if elected.CoveredFor != 0 || another.CoveredFor != 0 {
		t.Errorf("no election: %s; another operator: %s", elected.CoveredFor, another.CoveredFor)
	}
}

// kubeletsClock is that of the node: nothing is compared with the operator's.
var kubeletsClock = time.Date(2031, 1, 1, 0, 0, 0, 0, time.UTC)

func podWith(running string, ended ...string) container {
	status := corev1.ContainerStatus{Name: containerName}
	if running != "" {
		status.ContainerID, status.State.Running = running, &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(kubeletsClock)}
	}
	for _, id := range ended {
		if running == "" && status.State.Terminated == nil {
			status.ContainerID, status.State.Terminated = id, &corev1.ContainerStateTerminated{ContainerID: id}
		} else {
			status.LastTerminationState.Terminated = &corev1.ContainerStateTerminated{ContainerID: id}
		}
	}
	return containerOf(&corev1.Pod{Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{Name: "sidecar"}, status}}})
}

// saysItBegan: the program that answers began so long after the reported container.
func (c container) saysItBegan(after time.Duration) container {
	c.process = kubeletsClock.Add(after)
	return c
}

func TestAMasterHasEndedWhenTheContainerThatItWasSeenInHas(t *testing.T) {
	start := time.Now()
	master := func(reachable bool) *cluster.View {
		return &cluster.View{Servers: []cluster.Server{{Name: "c-0", PodUID: "pod", Reachable: reachable, Status: engine.Status{Role: engine.RoleMaster}}}}
	}
	anotherPod := func(v *cluster.View) *cluster.View {
		v.Servers[0].PodUID = "another"
		return v
	}
	type look struct {
		reachable bool
		pod       container
	}
	seen := []look{{true, podWith("x").saysItBegan(-30 * time.Millisecond)}}
	for what, c := range map[string]struct {
		looks []look
		ended bool
	}{
		"it has ended":                                              {append(seen[:1:1], look{false, podWith("", "x")}), true},
		"another one runs in its place":                             {append(seen[:1:1], look{false, podWith("y", "x")}), true},
		"another one runs, and the former one is forgotten":         {append(seen[:1:1], look{false, podWith("y", "w")}), true},
		"it had ended when it was seen last":                        {append(seen[:1:1], look{false, podWith("", "x")}, look{false, container{}}), true},
		"it was seen again, and not asked again":                    {append(seen[:1:1], look{true, podWith("x")}, look{false, podWith("", "x")}), true},
		"its container was long in the making":                      {[]look{{true, podWith("x").saysItBegan(-9 * time.Second)}, {false, podWith("", "x")}}, true},
		"it is said to run":                                         {append(seen[:1:1], look{false, podWith("x")}), false},
		"nothing is said of it":                                     {append(seen[:1:1], look{false, podWith("")}), false},
		"the pod is gone":                                           {append(seen[:1:1], look{false, container{}}), false},
		"another container has ended":                               {append(seen[:1:1], look{false, podWith("", "w")}), false},
		"it does not tell when it began":                            {[]look{{true, podWith("x")}, {true, podWith("x")}, {false, podWith("", "x")}}, false},
		"it told so only later":                                     {[]look{{true, podWith("x")}, seen[0], {false, podWith("", "x")}}, true},
		"it was never seen":                                         {[]look{{false, podWith("", "x")}}, false},
		"the operator reaches it":                                   {append(seen[:1:1], look{true, podWith("", "x")}), false},
		"it has ended, and is the master again, who knows in which": {append(seen[:1:1], look{false, podWith("", "x")}, look{true, podWith("", "x")}, look{false, podWith("", "x")}), false},
		"another one was the master since":                          {append(seen[:1:1], look{true, podWith("y", "x")}, look{false, podWith("y", "x")}), false},
		// Reports come late: x has ended, the program in y is the master, and x is still said to run, for however long. Then y, and the
		// operator does not reach it any more.
		"it ran in a container that nobody had reported yet": {[]look{{true, podWith("x").saysItBegan(3 * time.Second)},
			{true, podWith("x").saysItBegan(3 * time.Second)}, {false, podWith("y", "x")}}, false},
	} {
		e := &elapsed{}
		var last *cluster.View
		for i, l := range c.looks {
			last = master(l.reachable)
			e.note(last, map[string]container{"c-0": l.pod}, start.Add(time.Duration(i)*time.Minute))
		}
		if got := last.Servers[0].Ended; got != c.ended {
			t.Errorf("%s: ended %t", what, got)
		}
	}
	e := &elapsed{}
	for _, l := range seen {
		e.note(master(true), map[string]container{"c-0": l.pod}, start)
	}
	replaced := anotherPod(master(false))
	e.note(replaced, map[string]container{"c-0": podWith("y")}, start.Add(time.Minute))
	if replaced.Servers[0].Ended {
		t.Error("a pod under its name says nothing of the former one, whose node may be cut off")
	}
}

func TestAMasterIsAskedWhenItBeganUntilThatIsKnown(t *testing.T) {
	e := &elapsed{}
	master := cluster.Server{Name: "c-0", Reachable: true, Status: engine.Status{Role: engine.RoleMaster}}
	for _, step := range []struct {
		seen   container
		s      cluster.Server
		needed bool
	}{
		{podWith("x"), master, true},
		{podWith("x"), master, true},
		{podWith(""), master, false},
		{podWith("x"), cluster.Server{Name: "c-0", Reachable: true, Status: engine.Status{Role: engine.RoleReplica}}, false},
		{podWith("x").saysItBegan(0), master, true},
		{podWith("x"), master, false},
		{podWith("y"), master, true},
	} {
		if got := e.needsStart(&step.s, step.seen); got != step.needed {
			t.Errorf("%+v: needed %t", step, got)
		}
		e.note(&cluster.View{Servers: []cluster.Server{step.s}}, map[string]container{"c-0": step.seen}, time.Now())
	}
}

// A program that the operator has given a role runs, whatever was said of the one before: its kubelet may have been cut off since.
func TestAReportThatIsOlderThanAnAnswerIsNotBelieved(t *testing.T) {
	crashed, again := podWith("", "x"), podWith("", "y")
	again.report = "another one"
	for what, c := range map[string]struct {
		before    []bool // whether it answered, under the report that it does not run
		now       container
		believed  bool
		reachable bool
	}{
		"it has not answered under that report":                  {nil, crashed, true, false},
		"nor the last time":                                      {[]bool{false}, crashed, true, false},
		"it answers":                                             {nil, crashed, false, true},
		"it has answered, and nothing was reported since":        {[]bool{true}, crashed, false, false},
		"it has answered, was silent, and nothing was reported":  {[]bool{true, false}, crashed, false, false},
		"it has answered, and its container has ended after all": {[]bool{true}, again, true, false},
	} {
		e := &elapsed{}
		look := func(answers bool, pod container) bool {
			v := &cluster.View{Servers: []cluster.Server{{Name: "c-0", PodUID: "pod", Down: true, Reachable: answers}}}
			e.note(v, map[string]container{"c-0": pod}, time.Now())
			return v.Servers[0].Down
		}
		for _, answers := range c.before {
			look(answers, crashed)
		}
		if got := look(c.reachable, c.now); got != c.believed {
			t.Errorf("%s: believed %t", what, got)
		}
	}
}

func TestALostLeaseIsCountedWhileItIsSeenLost(t *testing.T) {
	start := time.Now()
	e := &elapsed{}
	look := func(lost bool, at time.Duration) time.Duration {
		v := &cluster.View{Servers: []cluster.Server{{Name: "c-0", Reachable: true, Status: engine.Status{LeaseLost: lost}}}}
		e.note(v, nil, start.Add(at))
		return v.Servers[0].LeaseLostFor
	}
	if first, again := look(true, 0), look(true, time.Second); first != 0 || again != time.Second {
		t.Errorf("%s, %s", first, again)
	}
	if held, anew := look(false, 2*time.Second), look(true, 3*time.Second); held != 0 || anew != 0 {
		t.Errorf("%s, %s", held, anew)
	}
}
