package controller

import (
	"maps"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"commitlab.dev/operator/api/v1alpha1"
	"commitlab.dev/operator/internal/cluster"
)

func demo() *v1alpha1.CommitCluster {
	c := &v1alpha1.CommitCluster{}
	c.Name, c.Namespace, c.UID = "demo", "shop", "u"
	c.Spec.Replicas = 2
	c.Spec.Storage.Size = resource.MustParse("1Gi")
	return c
}

func variables(c *v1alpha1.CommitCluster, pairs ...string) *v1alpha1.CommitCluster {
	c.Spec.Engine.Variables = map[string]apiextensionsv1.JSON{}
	for i := 0; i < len(pairs); i += 2 {
		c.Spec.Engine.Variables[pairs[i]] = apiextensionsv1.JSON{Raw: []byte(pairs[i+1])}
	}
	return c
}

func TestServersAreNeverRestartedByTheStatefulSetController(t *testing.T) {
	set, err := BuildStatefulSet(demo(), "commitd:1")
	if err != nil {
		t.Fatal(err)
	}
	if *set.Spec.Replicas != 3 || *set.Spec.UpdateStrategy.Type != appsv1.OnDeleteStatefulSetStrategyType ||
		*set.Spec.PodManagementPolicy != appsv1.ParallelPodManagement {
		t.Fatalf("%+v", set.Spec)
	}
	if _, labelled := set.Spec.Template.Labels[v1alpha1.LabelRole]; labelled {
		t.Fatal("a new pod must not carry a role")
	}
}

func TestANewOperatorBuildsTheSamePod(t *testing.T) {
	build := func() string {
		args, err := commitdArgs(variables(demo(), "slow_query_log", "1", "b", `"x"`, "a", "true"))
		if err != nil {
			t.Fatal(err)
		}
		return strings.Join(args, " ")
	}
	first := build()
	for range 20 {
		if again := build(); again != first {
			t.Fatalf("%s\n%s", first, again)
		}
	}
	if !strings.HasSuffix(first, "--a=ON --b=x --slow-query-log=1") || !strings.Contains(first, "--require-bootstrap") {
		t.Fatal(first)
	}
}

func TestVariablesThatCannotBeUsedAreRefusedWithAHint(t *testing.T) {
	for want, c := range map[string]*v1alpha1.CommitCluster{
		"it comes from the pod's number":   variables(demo(), "server_id", "7"),
		"use spec.semisync":                variables(demo(), "RPL_SEMI_SYNC_SOURCE_TIMEOUT", "7"),
		"survive a loss of power":          variables(demo(), "Loose_Sync-Binlog", "0"),
		"the binlog is the only log":       variables(demo(), "loose_skip_log_bin", "true"),
		"roles are given by the operator":  variables(demo(), "--loose-loose-super_read_only", "false"),
		"this is not a name":               variables(demo(), "datadir=/tmp/x", `""`),
		"not a name of":                    variables(demo(), "", "1"),
		"use spec.engine.variables":        variables(demo(), "defaults_extra_file", `"/tmp/x"`),
		"the contents of volumes":          variables(demo(), "restore-binlogs", `"/tmp/x"`),
		"is not an integer":                variables(demo(), "long_query_time", "0.5"),
		"neither a string, nor an integer": variables(demo(), "x", `{"a":1}`),
	} {
		if _, err := commitdArgs(c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}

func TestWhatCommitdDoesNotDoIsRefusedBeforeAnyPodGetsIt(t *testing.T) {
	for _, change := range []func(*v1alpha1.SemisyncSpec){
		func(s *v1alpha1.SemisyncSpec) { s.WaitPoint = "AFTER_COMMIT" },
		func(s *v1alpha1.SemisyncSpec) { s.OnTimeout, s.Durability = "async", v1alpha1.DurabilityRequired },
	} {
		c := demo()
		change(&c.Spec.Semisync)
		if _, err := BuildStatefulSet(c, "commitd:1"); err == nil || !strings.Contains(err.Error(), "spec.semisync.") {
			t.Errorf("%+v: %v", c.Spec.Semisync, err)
		}
	}
	for _, onTimeout := range []string{"block", "error", "async"} {
		c := demo()
		c.Spec.Semisync = v1alpha1.SemisyncSpec{WaitPoint: "AFTER_SYNC", OnTimeout: onTimeout, Durability: v1alpha1.DurabilityPreferred}
		if _, err := BuildStatefulSet(c, "commitd:1"); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAServerLeavesOnlyWhenItIsNotCountedAnyMore(t *testing.T) {
	c := demo()
	c.Status.Members = []v1alpha1.MemberStatus{{Name: "demo-0", ServerUUID: "a"}, {Name: "demo-1", ServerUUID: "b"}, {Name: "demo-2", ServerUUID: "c"}}
	c.Status.Quorum = &v1alpha1.QuorumStatus{MasterUUID: "a", Members: []string{"b", "c"}}
	c.Spec.Replicas = 0
	if n := podCount(c); n != 3 {
		t.Fatalf("%d pods although all three are counted", n)
	}
	c.Status.Quorum.Members, c.Status.PriorQuorums = nil, []v1alpha1.QuorumStatus{{MasterUUID: "a", Members: []string{"b"}}}
	if n := podCount(c); n != 2 {
		t.Fatalf("%d pods although demo-1 is counted in a prior quorum", n)
	}
	c.Status.PriorQuorums, c.Status.Quorum.MasterUUID = nil, "c"
	if n := podCount(c); n != 3 {
		t.Fatalf("%d pods although the master is demo-2", n)
	}
}

func TestTheMasterServiceFollowsTheProtocolAndNotAProbe(t *testing.T) {
	master, replicas := BuildMasterService(demo()).Spec, BuildReplicasService(demo()).Spec
	if !*master.PublishNotReadyAddresses || master.Selector != nil {
		t.Fatalf("%+v", master)
	}
	if replicas.PublishNotReadyAddresses != nil || replicas.Selector[v1alpha1.LabelRole] != v1alpha1.RoleReplica {
		t.Fatalf("%+v", replicas)
	}
}

func TestGeneratedPasswordsDiffer(t *testing.T) {
	a, b := BuildCredentialsSecret(demo()).StringData, BuildCredentialsSecret(demo()).StringData
	seen := []string{a[keyOperatorPassword], a[keyRootPassword], a[keyReplicationPassword], b[keyOperatorPassword]}
	slices.Sort(seen)
	if len(slices.Compact(seen)) != 4 || seen[0] == "" {
		t.Fatalf("%q", seen)
	}
}

func TestAccountsAreMadeAnewWhenASecretChanges(t *testing.T) {
	a := credentials{replication: "r", appUser: "app", appPassword: "p", database: "d"}
	b := a
	b.appPassword = "q"
	if a.revision() == b.revision() || a.revision() != (credentials{operator: "other", replication: "r", appUser: "app", appPassword: "p", database: "d"}).revision() {
		t.Fatal("the revision must change with the accounts, and only with them")
	}
}

func TestOrdinals(t *testing.T) {
	for name, want := range map[string]int32{"demo-0": 0, "my-demo-12": 12, "demo": -1, "demo-x": -1} {
		n, ok := ordinalOf(name)
		if ok != (want >= 0) || (ok && n != want) {
			t.Errorf("%s: %d %v", name, n, ok)
		}
	}
}

func TestVolumesThatNobodyRunsAreSeen(t *testing.T) {
	volumes := map[string]string{"data-demo-0": "a", "data-demo-7": "b", "data-demo": "c", "data-demo-big-3": "d", "other-demo-9": "e"}
	got := unused(demo(), volumes, []cluster.Server{{Name: "demo-0"}, {Name: "demo-1"}})
	if !maps.Equal(got, map[string]string{"demo-7": "b"}) {
		t.Fatal(got)
	}
}

func TestTheValidationPodAsksForWhatTheServersGet(t *testing.T) {
	c := variables(demo(), "max_connections", "7")
	c.Spec.Resources.Limits = corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("1Gi"), "example.com/gpu": resource.MustParse("1")}
	set, err := BuildStatefulSet(c, "commitd:1")
	if err != nil {
		t.Fatal(err)
	}
	pod, err := BuildValidationPod(c, "commitd:1")
	if err != nil {
		t.Fatal(err)
	}
	server, validation := set.Spec.Template.Spec.Containers[0], pod.Spec.Containers[0]
	if validation.Image != *server.Image || !slices.Equal(validation.Args, append(server.Args, "--validate-config")) {
		t.Fatalf("%s %v", validation.Image, validation.Args)
	}
	if n, ok := ordinalOf(pod.Spec.Hostname); !ok || n != 0 {
		t.Fatalf("commitd reads its server id from the host name: %q", pod.Spec.Hostname)
	}
	if _, looksLikeAServer := ordinalOf(pod.Name); looksLikeAServer || pod.Labels["app.kubernetes.io/name"] == "commitd" {
		t.Fatalf("it would be taken for a server: %s %v", pod.Name, pod.Labels)
	}
	requests, limits := validation.Resources.Requests, validation.Resources.Limits
	if memory, set := requests[corev1.ResourceMemory]; !set || !memory.IsZero() || limits.Memory().String() != "1Gi" || len(limits) != 1 {
		t.Fatalf("it must keep nobody from a full node: %+v", validation.Resources)
	}
}

func TestEveryQuestionHasItsOwnValidationPod(t *testing.T) {
	name := func(c *v1alpha1.CommitCluster, image string) string {
		pod, err := BuildValidationPod(c, image)
		if err != nil {
			t.Fatal(err)
		}
		return pod.Name
	}
	first := name(demo(), "commitd:1")
	larger := demo()
	larger.Spec.Replicas = 5
	if name(larger, "commitd:1") != first {
		t.Error("the number of servers is no part of the question")
	}
	again := demo()
	again.UID = "another"
	if name(demo(), "commitd:2") == first || name(variables(demo(), "a", "1"), "commitd:1") == first || name(again, "commitd:1") == first {
		t.Error("two questions with one name")
	}
}

// What a yes is good for does not depend on the data: otherwise every cluster would be asked about a second time, when its first
// servers have told their format.
func TestTheValidationPodNamesTheDataThatTheServersHave(t *testing.T) {
	c := demo()
	before, err := BuildValidationPod(c, "commitd:1")
	if err != nil {
		t.Fatal(err)
	}
	c.Status.Members = []v1alpha1.MemberStatus{{DataFormat: "1.3"}, {DataFormat: "1.2"}, {}, {DataFormat: "1.3"}}
	after, err := BuildValidationPod(c, "commitd:1")
	if err != nil {
		t.Fatal(err)
	}
	if args := after.Spec.Containers[0].Args; !slices.Contains(args, "--commitd-data-format=1.2,1.3") {
		t.Fatalf("%v", args)
	}
	if after.Name == before.Name || after.Annotations[v1alpha1.AnnotationValidated] != before.Annotations[v1alpha1.AnnotationValidated] {
		t.Fatalf("%s %v, %s %v", before.Name, before.Annotations, after.Name, after.Annotations)
	}
}

// Every server may be a donor, so every one has the limit.
func TestTheBandwidthOfClonesIsAFlag(t *testing.T) {
	for limit, want := range map[string]string{"100Mi": "--clone-max-data-bandwidth=100", "1": "--clone-max-data-bandwidth=1"} {
		c := demo()
		q := resource.MustParse(limit)
		c.Spec.Clone.MaxBandwidth = &q
		if args, err := commitdArgs(c); err != nil || !slices.Contains(args, want) {
			t.Errorf("%s: %v %v", limit, args, err)
		}
	}
}
