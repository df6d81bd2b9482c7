package cluster

import (
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"commitlab.dev/operator/api/v1alpha1"
)

// bereft is a cluster whose master is gone, and the only replica with what it has acknowledged.
func bereft(t *testing.T) *lab {
	l := bootstrapped(t, recloning(requiredPolicy(2)), "c-0", "c-1", "c-2")
	aLossToAccept(t, l)
	return l
}

func (l *lab) refused(t *testing.T, because string) {
	t.Helper()
	epoch := l.record.Epoch
	l.operate(t)
	if p := l.record.Promotion; p == nil || p.Phase != v1alpha1.PromotionRefused || !strings.Contains(p.Message, because) || l.record.Epoch != epoch {
		t.Fatalf("%+v", p)
	}
}

func TestAPersonAcceptsALoss(t *testing.T) {
	l := bereft(t)
	l.promote("c-1")
	claimed := l.decide()
	if e := claimed.plan.Event; e == nil || e.Reason != ReasonLossAccepted || !strings.Contains(e.Message, "Missing: c-0 cannot be reached; c-2") {
		t.Fatalf("%+v", claimed.plan.Event)
	}
	l.operate(t)
	if p := l.record.Promotion; l.record.Master != "c-1" || p.Phase != v1alpha1.PromotionSucceeded || len(p.Seen) != 1 || len(p.Missing) != 2 {
		t.Fatalf("%+v", l.record)
	}
	if Writable(l.view()) {
		t.Fatal("required: nobody is there to acknowledge")
	}
	epoch := l.record.Epoch
	l.world.Start("c-0")
	l.world.Start("c-2")
	l.operate(t)
	l.mustServe(t)
	if l.world.Broken != "" || len(l.world.GivenUp) == 0 || l.record.Epoch != epoch || len(l.record.PriorQuorums) > 0 {
		t.Fatalf("%s %+v", l.world.Broken, l.record)
	}
	l.write(t)
}

// By default nobody who has diverged is written over: a person may want to save what is lost.
func TestWhoHasWhatWasGivenUpIsQuarantined(t *testing.T) {
	l := bereft(t)
	l.policy.Divergence = v1alpha1.DivergenceQuarantine
	l.promote("c-1")
	l.operate(t)
	l.world.Start("c-2")
	p := l.operate(t)
	if !strings.Contains(p.Problems["c-2"], "transactions that the master does not have") || len(l.record.Clones) > 0 {
		t.Fatalf("%+v", p.Problems)
	}
}

// Writes wait then, where a replica must acknowledge: whoever asks why is told the command that helps, and it does.
func TestThePersonIsToldWhatEndsAQuarantine(t *testing.T) {
	l := bereft(t)
	l.initialized = true
	l.policy.Divergence = v1alpha1.DivergenceQuarantine
	l.promote("c-1")
	l.operate(t)
	l.world.Start("c-2")
	p := l.operate(t)
	v := l.view()
	command := "'kubectl delete -n ns pvc/data-c-2 pod/c-2'"
	if problem := p.Problems["c-2"]; !strings.Contains(problem, command) || !strings.Contains(problem, "given up when a loss was accepted in epoch 2") {
		t.Errorf("%s", problem)
	}
	summary := Summarize(v, p)
	for _, c := range summary.Conditions {
		blocked := c.Type == v1alpha1.ConditionWritesBlocked && c.Status == metav1.ConditionTrue && c.Reason == "TooFewReplicas"
		degraded := c.Type == v1alpha1.ConditionDegraded && c.Reason == "NeedsAPerson"
		if (blocked || degraded) && strings.Contains(c.Message, command) {
			continue
		}
		if c.Type == v1alpha1.ConditionWritesBlocked || c.Type == v1alpha1.ConditionDegraded {
			t.Errorf("%+v", c)
		}
	}
	if i := slices.IndexFunc(summary.Members, func(m v1alpha1.MemberStatus) bool { return m.Name == "c-2" }); !strings.Contains(summary.Members[i].Problem, command) {
		t.Errorf("%+v", summary.Members)
	}
	l.world.Kill("c-2")
	l.world.Wipe("c-2")
	l.start("c-2")
	l.operate(t)
	if !Writable(l.view()) || l.record.Master != "c-1" || l.world.Broken != "" {
		t.Fatalf("%s%+v", l.world.Broken, l.record)
	}
	l.write(t)
}

func TestWithoutTheFlagItIsOnlySaidWhatMayBeLost(t *testing.T) {
	l := bereft(t)
	l.promote("c-1")
	l.promotion.AcceptDataLoss = false
	l.operate(t)
	if p := l.record.Promotion; p.Phase != v1alpha1.PromotionAssessed || l.record.Epoch != 1 || !strings.Contains(p.Message, "c-1 ends in epoch 1") {
		t.Fatalf("%+v", l.record)
	}
}

func TestNothingIsLostWhereTheOrdinaryWayWouldDo(t *testing.T) {
	for because, begin := range map[string]func(*lab){
		"nothing need be lost":     func(*lab) {},
		"happens by itself":        func(l *lab) { l.world.Kill("c-0") },
		"unfence":                  func(l *lab) { l.fence("c-2"); l.world.Kill("c-0") },
		"does not reach c-1":       func(l *lab) { l.world.Kill("c-0"); l.world.Kill("c-1") },
		"the request is of epoch":  func(l *lab) { l.promotion.Epoch = 7 },
		`no server "c-9"`:          func(l *lab) { l.promotion.Server = "c-9" },
		"c-1 is fenced by hand":    func(l *lab) { l.fence("c-1") },
		"two masters would":        func(l *lab) { l.world.Hide("c-0", true); l.world.Hide("c-2", true) },
		"its volume has been empt": func(l *lab) { l.world.Kill("c-1"); l.world.Wipe("c-1"); l.world.Start("c-1"); l.world.Kill("c-0") },
	} {
		t.Run(because, func(t *testing.T) {
			l := bootstrapped(t, requiredPolicy(2), "c-0", "c-1", "c-2")
			l.write(t)
			l.promote("c-1")
			begin(l)
			l.persist(l.decide())
			if p := l.record.Promotion; p == nil || p.Phase != v1alpha1.PromotionRefused || !strings.Contains(p.Message, because) || l.record.Epoch != 1 {
				t.Fatalf("%+v", p)
			}
		})
	}
}

func TestAPromotionIsNoWayRoundAMasterThatIsWaitedFor(t *testing.T) {
	l := bootstrapped(t, leasedPolicy(1), "c-0", "c-1")
	l.promote("c-1")
	l.world.Kill("c-0")
	l.refused(t, "too few to acknowledge what it would write: c-0 is waited for")
}

func TestTheServerWithTheMostIsPromoted(t *testing.T) {
	both := int32(2)
	policy := requiredPolicy(4)
	policy.WaitCount = &both
	l := bootstrapped(t, policy, "c-0", "c-1", "c-2", "c-3", "c-4")
	l.writeWithout("c-1")
	for _, name := range []string{"c-0", "c-3", "c-4"} {
		l.world.Kill(name)
	}
	l.promote("c-1")
	l.refused(t, "promote c-2 instead")
	l.promote("c-2")
	if l.operate(t); l.record.Master != "c-2" || len(l.world.GivenUp) > 0 {
		t.Fatalf("%+v", l.record)
	}
}

// The request names an epoch, so one that is applied again, by a pipeline say, means nothing any more.
func TestAPromotionIsCarriedOutOnce(t *testing.T) {
	l := bereft(t)
	l.promote("c-1")
	l.operate(t)
	again := *l.promotion
	again.ID = "again"
	l.promotion = &again
	l.refused(t, "the request is of epoch 1")
}

// Whoever comes back in time is heard: then nothing is lost after all.
func TestWhoComesBackBeforeTheElectionIsElected(t *testing.T) {
	l := bereft(t)
	l.promote("c-1")
	l.persist(l.decide())
	l.world.Start("c-0")
	l.operate(t)
	if p := l.record.Promotion; l.record.Master != "c-0" || p.Phase != v1alpha1.PromotionFailed || len(l.world.GivenUp) > 0 || l.record.LossAcceptedEpoch != 0 {
		t.Fatalf("%+v", l.record)
	}
}

func TestRequestsThatCannotBeReadAreReported(t *testing.T) {
	c := &v1alpha1.CommitCluster{}
	for _, text := range []string{"demo-1", `{"id":"1","server":"demo-1"}`, `{"id":"1","server":"demo-1","epoch":1,"acceptDataLos":true}`} {
		c.Annotations = map[string]string{v1alpha1.AnnotationPromote: text}
		if _, err := PromotionOf(c); err == nil {
			t.Errorf("%s was read", text)
		}
	}
}
