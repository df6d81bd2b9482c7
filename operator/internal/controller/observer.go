package controller

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"commitlab.dev/operator/api/v1alpha1"
	"commitlab.dev/operator/internal/cluster"
	"commitlab.dev/operator/internal/engine"
)

// statusTimeout bounds one question to a server.
const statusTimeout = time.Second

// Observer looks at clusters' servers and remembers since when each cannot be reached.
type Observer struct {
	// Client may be cached, Reader is not.
	Client  client.Reader
	Reader  client.Reader
	Engines engine.Connector

	mu sync.Mutex
	// By cluster and pod. A cluster that is made anew under its name is another one.
	seen map[types.UID]*elapsed
	// What each cluster's Secrets last had: a Secret that is gone stops no failover.
	accesses map[types.UID]access

	variables knownVariables
}

// Forget drops what is remembered of clusters that are gone.
func (o *Observer) Forget(left []v1alpha1.CommitCluster) {
	uids, prefixes := map[types.UID]bool{}, map[string]bool{}
	for i := range left {
		uids[left[i].UID] = true
		prefixes[serverKey(&left[i], "")] = true
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	maps.DeleteFunc(o.seen, func(uid types.UID, _ *elapsed) bool { return !uids[uid] })
	maps.DeleteFunc(o.accesses, func(uid types.UID, _ access) bool { return !uids[uid] })
	o.variables.forget(func(uid types.UID) bool { return uids[uid] })
	o.Engines.Forget(func(server string) bool { return prefixes[server[:strings.LastIndex(server, "/")+1]] })
}

// View looks at everything that a decision about the cluster depends on.
func (o *Observer) View(ctx context.Context, c *v1alpha1.CommitCluster, a access) (cluster.View, error) {
	return o.view(ctx, c, a, o.Reader)
}

// Glance is a view that asks nothing of the API server: the volumes are those of the cache. Nobody acts by it.
func (o *Observer) Glance(ctx context.Context, c *v1alpha1.CommitCluster, a access) (cluster.View, error) {
	return o.view(ctx, c, a, o.Client)
}

func (o *Observer) view(ctx context.Context, c *v1alpha1.CommitCluster, a access, claims client.Reader) (cluster.View, error) {
	volumes, err := volumesOf(ctx, c, claims)
	if err != nil {
		return cluster.View{}, err
	}
	servers, containers, err := o.servers(ctx, c, volumes)
	if err != nil {
		return cluster.View{}, err
	}
	v := cluster.View{
		Now:         time.Now(),
		Namespace:   c.Namespace,
		Policy:      cluster.PolicyOf(c),
		Record:      *c.Status.Record.DeepCopy(),
		Initialized: meta.IsStatusConditionTrue(c.Status.Conditions, v1alpha1.ConditionInitialized),
		Servers:     servers,
		Unused:      unused(c, volumes, servers),
	}
	v.Request, v.RequestProblem = cluster.SwitchoverOf(c)
	v.KeptOut, v.KeptOutProblem = cluster.FencedOf(c)
	v.Promotion, v.PromotionProblem = cluster.PromotionOf(c)
	reach := o.reach(c, a)
	cluster.Observe(ctx, &v, reach, statusTimeout)
	o.askStarts(ctx, c, &v, reach, containers)
	o.remember(c, &v, containers)
	return v, nil
}

// askStarts asks masters when their programs began: once for each container, as long as they answer that.
func (o *Observer) askStarts(ctx context.Context, c *v1alpha1.CommitCluster, v *cluster.View, reach cluster.Reach, containers map[string]container) {
	for i := range v.Servers {
		s := &v.Servers[i]
		if !o.needsStart(c, s, containers[s.Name]) {
			continue
		}
		if began, err := began(ctx, reach(s)); err == nil {
			one := containers[s.Name]
			one.process = began
			containers[s.Name] = one
		}
	}
}

func (o *Observer) needsStart(c *v1alpha1.CommitCluster, s *cluster.Server, reported container) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	known := o.seen[c.UID]
	if known == nil {
		known = &elapsed{}
	}
	return known.needsStart(s, reported)
}

func began(ctx context.Context, server engine.Server) (time.Time, error) {
	ctx, cancel := context.WithTimeout(ctx, statusTimeout)
	defer cancel()
	return server.Began(ctx)
}

func (o *Observer) reach(c *v1alpha1.CommitCluster, a access) cluster.Reach {
	return func(s *cluster.Server) engine.Server {
		if s.Address == "" {
			return nil
		}
		server, err := o.Engines.Connect(engine.Target{Name: serverKey(c, s.Name), Address: s.Address, Port: cluster.AdminPort,
			Password: a.logins[s.Credentials].Operator, TLS: a.protection(s)})
		if err != nil {
			return nil
		}
		return server
	}
}

func serverKey(c *v1alpha1.CommitCluster, pod string) string {
	return fmt.Sprintf("%s/%s/%s", c.Namespace, c.Name, pod)
}

// remember counts across looks by the prober and by reconciliations.
func (o *Observer) remember(c *v1alpha1.CommitCluster, v *cluster.View, containers map[string]container) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.seen == nil {
		o.seen = map[types.UID]*elapsed{}
	}
	if o.seen[c.UID] == nil {
		o.seen[c.UID] = &elapsed{}
	}
	o.seen[c.UID].note(v, containers, time.Now())
}

// servers lists the pods that are there and those that should be, and the containers that servers run in.
func (o *Observer) servers(ctx context.Context, c *v1alpha1.CommitCluster, volumes map[string]string) ([]cluster.Server, map[string]container, error) {
	var pods corev1.PodList
	if err := o.Client.List(ctx, &pods, client.InNamespace(c.Namespace), client.MatchingLabels(selectorLabels(c))); err != nil {
		return nil, nil, fmt.Errorf("list pods: %w", err)
	}
	asked, err := o.asked(ctx, c)
	if err != nil {
		return nil, nil, err
	}
	containers := map[string]container{}
	found := map[int32]cluster.Server{}
	for ordinal := range podCount(c) {
		found[ordinal] = cluster.Server{Name: podName(c, ordinal), Ordinal: ordinal}
	}
	for i := range pods.Items {
		pod := &pods.Items[i]
		ordinal, ok := ordinalOf(pod.Name)
		if !ok {
			continue
		}
		found[ordinal] = o.server(c, pod, ordinal, asked)
		containers[pod.Name] = containerOf(pod)
	}
	var list []cluster.Server
	for _, s := range found {
		s.Claim = pvcName(s.Name)
		if s.PVCUID = volumes[s.Claim]; s.PVCUID == "" {
			// Half of its identity is unknown: better not to ask than to take it for somebody else.
			s.Address = ""
		}
		list = append(list, s)
	}
	slices.SortFunc(list, func(a, b cluster.Server) int { return int(a.Ordinal - b.Ordinal) })
	return list, containers, nil
}

func (o *Observer) server(c *v1alpha1.CommitCluster, pod *corev1.Pod, ordinal int32, asked *configuration) cluster.Server {
	s := cluster.Server{
		Name:    pod.Name,
		Ordinal: ordinal,
		Address: pod.Status.PodIP,
		Label:   pod.Labels[v1alpha1.LabelRole],
		PodUID:  string(pod.UID),
		Leaving: !pod.DeletionTimestamp.IsZero(),
		Down:    !runs(pod),

		Credentials: credentialsOf(c, pod),
	}
	started := configurationIn(pod.Annotations)
	if started != nil && started.TLS != "" {
		s.TLSName = serverName(c, pod.Name)
	}
	changed := changesOf(started, asked)
	s.Changed = changed.variables
	s.Outdated = changed.outdated(func(flag string) bool { return s.Down || o.variables.onlyAtStart(c.UID, flag) })
	return s
}

// runs says whether Kubernetes has seen the server's program run in this pod, and not seen it end.
func runs(pod *corev1.Pod) bool {
	for _, s := range pod.Status.ContainerStatuses {
		if s.Name == containerName {
			return s.State.Running != nil
		}
	}
	return pod.Status.Phase == corev1.PodRunning
}

// asked is what servers are to be started with now: what commitd has said yes to. nil while there is nothing.
func (o *Observer) asked(ctx context.Context, c *v1alpha1.CommitCluster) (*configuration, error) {
	set := &appsv1.StatefulSet{}
	if err := o.Client.Get(ctx, client.ObjectKeyFromObject(c), set); err != nil {
		return nil, client.IgnoreNotFound(err)
	}
	return configurationIn(set.Spec.Template.Annotations), nil
}

// unused are the volumes that no server runs on: those of a cluster that was larger.
func unused(c *v1alpha1.CommitCluster, volumes map[string]string, servers []cluster.Server) map[string]string {
	left := map[string]string{}
	for claim, uid := range volumes {
		pod, isData := strings.CutPrefix(claim, pvcName(""))
		ordinal, ok := ordinalOf(pod)
		runs := slices.ContainsFunc(servers, func(s cluster.Server) bool { return s.Name == pod })
		if isData && ok && !runs && pod == podName(c, ordinal) {
			left[pod] = uid
		}
	}
	return left
}

// volumesOf are the UIDs of the volume claims, by name. They are half of a server's identity: whoever acts reads past the cache.
func volumesOf(ctx context.Context, c *v1alpha1.CommitCluster, from client.Reader) (map[string]string, error) {
	var claims corev1.PersistentVolumeClaimList
	if err := from.List(ctx, &claims, client.InNamespace(c.Namespace), client.MatchingLabels(selectorLabels(c))); err != nil {
		return nil, fmt.Errorf("list volume claims: %w", err)
	}
	uids := map[string]string{}
	for _, claim := range claims.Items {
		uids[claim.Name] = string(claim.UID)
	}
	return uids, nil
}
