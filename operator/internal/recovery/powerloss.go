package recovery

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"syscall"
	"time"

	"commitlab.dev/operator/api/v1alpha1"
	"commitlab.dev/operator/internal/cluster"
)

// diskPort is where chaos/powerloss/powerloss.c answers (POWERLOSS_PORT in the image).
const diskPort = 8088

// restartPatience is how long a killed container may take to run again: the kubelet lets one that was killed often wait for up to five minutes.
const restartPatience = 6 * time.Minute

// Disk is what a disk that forgets says: what was not synced, and was undone before the present process began.
type Disk struct {
	// Starts is the number of processes on it so far.
	Starts               int64
	Writes, Bytes, Files int64
	// Told is what the library in front of it says of the troubles that it was told.
	Told [troubleKinds]Told
}

// takesPower: what proves it is what the disk has lost.
func (f Fault) takesPower() bool { return f.Kind == v1alpha1.PowerLoss }

// needsDisks: a fault that is to come, or has not been seen yet, is proved by what a disk that forgets says. What Chaos Mesh alone is to do is not.
func needsDisks(t *v1alpha1.RecoveryTest) bool {
	return slices.ContainsFunc(t.Status.Faults, func(s v1alpha1.FaultStatus) bool {
		f := Fault{Kind: s.Kind}
		ahead := s.Phase == v1alpha1.FaultPlanned || s.Phase == v1alpha1.FaultInjecting
		return ahead && (f.takesPower() || f.hasSubstitute() && t.Spec.Injector != v1alpha1.InjectorChaosMesh)
	})
}

// forgets tells whether all targets lose what they have not synced. It cannot be done to one that has a plain disk; what does not answer is asked again.
func (d *decision) forgets(f Fault, status *v1alpha1.FaultStatus, objects []v1alpha1.FaultObject) bool {
	for _, o := range objects {
		s := d.view.server(o.Name)
		if s.PlainDisk {
			d.cannotBeDone(f, status, fmt.Sprintf("a killed process loses nothing that it wrote, synced or not, and %s has no disk that forgets: "+
				"nothing answers at its port %d; give the cluster the image of `make images-powerloss`", o.Name, diskPort))
			return false
		}
		if s.Disk == nil {
			status.Message = fmt.Sprintf("the disk of %s does not say what it is", o.Name)
			return false
		}
	}
	return true
}

// undone is what was taken away between the chosen process and the next; empty while there is none, or if there was nothing to take.
func undone(o v1alpha1.FaultObject, s *Server) string {
	if s == nil || !s.Running || s.ContainerID == o.ContainerID || s.Disk == nil || s.Disk.Writes == 0 {
		return ""
	}
	return fmt.Sprintf("%s, start %d of its disk, with %d unsynced writes (%d bytes in %d files) undone",
		s.ContainerID, s.Disk.Starts, s.Disk.Writes, s.Disk.Bytes, s.Disk.Files)
}

// hadNothingToLose names a server that had synced all it had written when it was killed: that was a kill, and no more.
func (d *decision) hadNothingToLose(objects []v1alpha1.FaultObject) string {
	for _, o := range objects {
		if s := d.view.server(o.Name); s != nil && s.ContainerID != o.ContainerID && s.Disk != nil && s.Disk.Writes == 0 {
			return o.Name + " had synced everything when it was killed: nothing proves that it lost power"
		}
	}
	return ""
}

// Disk asks the library. It listens before the server's main() begins, so a server that answers, and then still nobody for its disk, does not have it.
func (n Network) Disk(ctx context.Context, host string) (disk *Disk, plain bool) {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	metrics, err := get(ctx, host, diskPort)
	if errors.Is(err, syscall.ECONNREFUSED) {
		if up, _ := n.Reached(ctx, net.JoinHostPort(host, strconv.Itoa(int(cluster.AdminPort)))); !up {
			return nil, false
		}
		metrics, err = get(ctx, host, diskPort)
	}
	if err != nil {
		return nil, errors.Is(err, syscall.ECONNREFUSED)
	}
	disk = parseDisk(metrics)
	return disk, disk == nil
}

func parseDisk(metrics []byte) *Disk {
	metricNames := []string{"powerloss_starts", "powerloss_lost_writes", "powerloss_lost_bytes", "powerloss_lost_files"}
	for _, t := range troubleNames {
		metricNames = append(metricNames, t.id, t.done)
	}
	v, all := parseMetrics(metrics, metricNames...)
	if !all {
		return nil
	}
	disk := &Disk{Starts: int64(v[0]), Writes: int64(v[1]), Bytes: int64(v[2]), Files: int64(v[3])}
	for kind := range disk.Told {
		disk.Told[kind] = Told{ID: uint32(v[4+2*kind]), Done: int64(v[5+2*kind])}
	}
	return disk
}
