package controller

import (
	"fmt"
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
	// answered is what was reported of each server's container when the server answered last.
	answered map[string]string
}

// cover is since when those who are fenced cover the record of one claim.
type cover struct {
	claim string
	since time.Time
}

// masterProcess is the container in which a server's program ran while it was seen to be the master. That it has ended stays known:
// Kubernetes forgets all but the last containers of a pod, and those of pods that are gone.
type masterProcess struct {
	pod, container string
	// confirmed: the program itself has said when it began, and it was then that this container was started.
	confirmed, ended bool
}

// endsBy takes in what is reported of the server's pod. A kubelet runs one container of a kind in a pod at a time: where it reports
// another one of the same pod, the former has ended.
func (p masterProcess) endsBy(podUID string, c container) masterProcess {
	another := podUID == p.pod && c.running != "" && c.running != p.container
	p.ended = p.ended || (p.confirmed && (another || c.hasEnded(p.container)))
	return p
}

// note takes a look in. containers are those of the pods as they were reported before the servers were asked.
func (e *elapsed) note(v *cluster.View, containers map[string]container, now time.Time) {
	e.lostFrom = since(e.lostFrom, v.Servers, now, func(s *cluster.Server) bool { return !s.Reachable })
	e.leaseLostFrom = since(e.leaseLostFrom, v.Servers, now, func(s *cluster.Server) bool { return s.Reachable && s.Status.LeaseLost })
	e.noteMasters(v.Servers, containers)
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
	e.noteAnswers(v.Servers, containers)
	v.CoveredFor = e.cover.lasts(v, now)
}

// noteAnswers: a report that a program does not run is of an earlier one when the server has answered since it was made.
func (e *elapsed) noteAnswers(servers []cluster.Server, containers map[string]container) {
	if e.answered == nil {
		e.answered = map[string]string{}
	}
	for i := range servers {
		s := &servers[i]
		report := s.PodUID + " " + containers[s.Name].report
		if s.Reachable {
			e.answered[s.Name] = report
		}
		s.Down = s.Down && e.answered[s.Name] != report
	}
}

// needsStart says whether a server is to be asked when its program began, because the container that is reported of it is not known to be
// the one that it runs in.
func (e *elapsed) needsStart(s *cluster.Server, c container) bool {
	known := e.masters[s.Name]
	return c.running != "" && cluster.IsMaster(s) && !(known.container == c.running && known.confirmed)
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

func (e *elapsed) noteMasters(servers []cluster.Server, containers map[string]container) {
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
		case known.container != runs || !known.confirmed:
			e.masters[s.Name] = masterProcess{pod: s.PodUID, container: runs, confirmed: containers[s.Name].isProcess()}
		}
	}
}

// container is what Kubernetes reports of a server's container: which one runs, and which ones have ended. However late a report is, it
// is never of a container that comes after.
type container struct {
	running string
	ended   []string
	// report tells one report from another.
	report string
	// startedAt is when the kubelet has started the one that runs, and process when the server's program says that it began; both by the
	// node's clock. Zero: it was not asked, or cannot tell.
	startedAt, process time.Time
}

// A program begins while its container is created, which a busy node takes its time for, and the kubelet's seconds are whole ones, cut
// off, as are those that the kernel counts a program's start from.
const (
	creationTakes = 10 * time.Second
	rounding      = time.Second
)

// isProcess: the program that answers runs in the container that is reported, not in one that has taken its place since and that nobody
// has reported yet. Such a one was created after the reported one had ended, so it began later; only one that ended within its first two
// seconds can be mistaken.
func (c container) isProcess() bool {
	if c.process.IsZero() || c.startedAt.IsZero() {
		return false
	}
	after := c.process.Sub(c.startedAt)
	return -creationTakes <= after && after <= rounding
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
	c := container{report: string(pod.Status.Phase)}
	for _, s := range pod.Status.ContainerStatuses {
		if s.Name != containerName {
			continue
		}
		if s.State.Running != nil {
			c.running, c.startedAt = s.ContainerID, s.State.Running.StartedAt.Time
		}
		for _, state := range []corev1.ContainerState{s.State, s.LastTerminationState} {
			if state.Terminated != nil {
				c.ended = append(c.ended, state.Terminated.ContainerID)
			}
		}
		c.report = fmt.Sprint(pod.Status.Phase, s.ContainerID, s.RestartCount, c.running, c.ended)
	}
	return c
}
