package controller

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"commitlab.dev/operator/internal/cluster"
)

// elapsed is what this process has seen, and how long ago by its own monotonic clock. Another operator begins anew, so nothing
// of it is ever taken for longer than it was.
type elapsed struct {
	lostFrom, leaseLostFrom map[string]time.Time
	cover                   cover
	masters                 map[string]masterProcess
}

// cover is since when those who are fenced cover the record of one claim.
type cover struct {
	claim string
	since time.Time
}

// masterProcess is the container in which a server's program ran while it was seen to be the master. That it has ended stays known:
// Kubernetes forgets all but the last containers of a pod, and those of pods that are gone.
type masterProcess struct {
	pod, container   string
	since            time.Time
	confirmed, ended bool
}

// endsBy takes in what is reported of the server's pod. A kubelet runs one container of a kind in a pod at a time: where it reports
// another one of the same pod, the former has ended.
func (p masterProcess) endsBy(podUID string, c container) masterProcess {
	another := podUID == p.pod && c.running != "" && c.running != p.container
	p.ended = p.ended || (p.confirmed && (another || c.hasEnded(p.container)))
	return p
}

// kubeletDelay is what a kubelet may take to report that a container has ended and another one runs. A container that was reported
// for that long after a server was seen as the master was the one that the master ran in.
const kubeletDelay = 2 * time.Second

// note takes a look in. containers are those of the pods as they were reported before the servers were asked.
func (e *elapsed) note(v *cluster.View, containers map[string]container, now time.Time) {
	e.lostFrom = since(e.lostFrom, v.Servers, now, func(s *cluster.Server) bool { return !s.Reachable })
	e.leaseLostFrom = since(e.leaseLostFrom, v.Servers, now, func(s *cluster.Server) bool { return s.Reachable && s.Status.LeaseLost })
	e.noteMasters(v.Servers, containers, now)
	for i := range v.Servers {
		s := &v.Servers[i]
		if from, lost := e.lostFrom[s.Name]; lost {
			s.UnreachableFor = now.Sub(from)
		}
		if from, lost := e.leaseLostFrom[s.Name]; lost {
			s.LeaseLostFor = now.Sub(from)
		}
		s.Ended = !s.Reachable && e.masters[s.Name].ended
	}
	v.CoveredFor = e.cover.lasts(v, now)
}

// since keeps from when on each server has been seen so without a break.
func since(before map[string]time.Time, servers []cluster.Server, now time.Time, so func(*cluster.Server) bool) map[string]time.Time {
	after := map[string]time.Time{}
	for i := range servers {
		s := &servers[i]
		if !so(s) {
			continue
		}
		after[s.Name] = now
		if from, known := before[s.Name]; known {
			after[s.Name] = from
		}
	}
	return after
}

// lasts counts from the first look that finds the cover: a server that has promised an epoch serves no older one ever again, so
// it need not be reached all the time. now is after the servers have answered.
func (c *cover) lasts(v *cluster.View, now time.Time) time.Duration {
	if v.Record.Election == nil {
		return 0
	}
	claim := v.Claim()
	if c.claim != claim {
		if !v.Covered() {
			return 0
		}
		*c = cover{claim, now}
	}
	return now.Sub(c.since)
}

func (e *elapsed) noteMasters(servers []cluster.Server, containers map[string]container, now time.Time) {
	if e.masters == nil {
		e.masters = map[string]masterProcess{}
	}
	for i := range servers {
		s := &servers[i]
		runs, known := containers[s.Name].running, e.masters[s.Name]
		switch {
		case !s.Reachable:
			if known.container != "" {
				e.masters[s.Name] = known.endsBy(s.PodUID, containers[s.Name])
			}
		case runs == "" || !cluster.IsMaster(s):
			delete(e.masters, s.Name)
		case known.container != runs:
			e.masters[s.Name] = masterProcess{pod: s.PodUID, container: runs, since: now}
		default:
			known.confirmed = known.confirmed || now.Sub(known.since) >= kubeletDelay
			e.masters[s.Name] = known
		}
	}
}

// container is what Kubernetes reports of a server's container: which one runs, and which ones have ended.
type container struct {
	running string
	ended   []string
}

func (c container) hasEnded(id string) bool {
	for _, e := range c.ended {
		if e == id {
			return id != ""
		}
	}
	return false
}

func containerOf(pod *corev1.Pod) container {
	c := container{}
	for _, s := range pod.Status.ContainerStatuses {
		if s.Name != containerName {
			continue
		}
		if s.State.Running != nil {
			c.running = s.ContainerID
		}
		for _, state := range []corev1.ContainerState{s.State, s.LastTerminationState} {
			if state.Terminated != nil {
				c.ended = append(c.ended, state.Terminated.ContainerID)
			}
		}
	}
	return c
}
