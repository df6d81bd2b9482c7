package recovery

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"net"
	"net/http"
	"slices"
	"strconv"
	"syscall"
	"time"

	"commitlab.dev/operator/api/v1alpha1"
)

// diskSubstitute is said of faults of disks that the servers' own disks do: no FUSE, nor anything else of the kernel, is needed.
const diskSubstitute = "powerloss.so of the server's image, in place of Chaos Mesh: it answers what the server writes and syncs; reads go on"

// everything is the percentage of calls that are met.
const everything = 100

// Spoil is what is wrong with a disk for a while: calls that are refused, or late. Without a duration nothing is.
type Spoil struct {
	// ID tells one from the other; to be told of the same one again changes nothing.
	ID       uint32
	Error    syscall.Errno
	Percent  int32
	Syncs    bool
	Delay    time.Duration
	Duration time.Duration
}

// spoilsDisk: a disk that forgets can do it by itself.
func (f Fault) spoilsDisk() bool {
	return f.Kind == v1alpha1.DiskFull || f.Kind == v1alpha1.DiskError || f.Kind == v1alpha1.DiskSlow
}

func (f Fault) isOfDisk() bool { return f.takesPower() || f.spoilsDisk() }

// noneForgets: every server says that it has a plain disk. One that does not run says nothing.
func (v *View) noneForgets() bool {
	return len(v.Servers) > 0 && !slices.ContainsFunc(v.Servers, func(s Server) bool { return !s.PlainDisk })
}

// canSpoil says by whom a fault of disks is done: by all its targets' disks, or by Chaos Mesh. Where that is not known yet, or neither can,
// it is not begun.
func (d *decision) canSpoil(i int, objects []v1alpha1.FaultObject) bool {
	f, status := &d.schedule[i], &d.status.Faults[i]
	if d.view.Test.Spec.Injector == v1alpha1.InjectorChaosMesh {
		return true
	}
	plain := ""
	for _, o := range objects {
		s := d.view.server(o.Name)
		if s.Disk == nil && !s.PlainDisk {
			status.Message = fmt.Sprintf("the disk of %s does not say what it is", o.Name)
			return false
		}
		if s.PlainDisk {
			plain = o.Name
		}
	}
	switch {
	case plain == "":
		status.Substitute, f.Substituted = diskSubstitute, true
	case d.status.Injector == v1alpha1.InjectorBuiltIn:
		d.cannotBeDone(*f, status, string(f.Kind)+" needs Chaos Mesh, which is not installed or not to be used, or another disk for "+plain)
		return false
	}
	return true
}

func spoilOf(t *v1alpha1.RecoveryTest, f Fault) Spoil {
	spoil := Spoil{ID: spoilID(t, f), Percent: everything, Duration: f.Duration}
	switch f.Kind {
	case v1alpha1.DiskFull:
		spoil.Error = syscall.ENOSPC
	case v1alpha1.DiskError:
		spoil.Error, spoil.Percent, spoil.Syncs = syscall.EIO, f.Percent, true
	case v1alpha1.DiskSlow:
		spoil.Delay, spoil.Syncs = f.Latency, true
	}
	return spoil
}

// spoilID is the fault's own: what a disk says of an earlier one proves nothing of this.
func spoilID(t *v1alpha1.RecoveryTest, f Fault) uint32 {
	h := fnv.New32a()
	fmt.Fprintf(h, "%s/%s", t.UID, f.Name)
	return h.Sum32()
}

// spoiled is what the disk has done; empty while it is nothing.
func (d *decision) spoiled(f Fault, s *Server) string {
	if s == nil || s.Disk == nil || s.Disk.SpoilID != spoilID(d.view.Test, f) || s.Disk.Spoiled == 0 {
		return ""
	}
	if f.Kind == v1alpha1.DiskSlow {
		return fmt.Sprintf("%d calls made late (%s)", s.Disk.Spoiled, diskSubstitute)
	}
	return fmt.Sprintf("%d calls refused with errno %d (%s)", s.Disk.Spoiled, spoilOf(d.view.Test, f).Error, diskSubstitute)
}

func (d *decision) mend(f Fault, status *v1alpha1.FaultStatus) {
	if f.Substituted {
		d.do(MendDisks{Fault: f, Objects: status.Objects})
	}
}

// mendDisks ends all of it, before its time.
func (d *decision) mendDisks() {
	for _, status := range d.status.Faults {
		if status.Phase == v1alpha1.FaultInjecting || status.Phase == v1alpha1.FaultInjected {
			d.mend(Fault{Name: status.Name, Kind: status.Kind, Substituted: status.Substitute != ""}, &status)
		}
	}
}

// spoilDisks tells each object's disk. A server that does not run is told at the next look; what is wrong with its disk ends by itself.
func (r *Reconciler) spoilDisks(ctx context.Context, v View, objects []v1alpha1.FaultObject, spoil Spoil) error {
	var all error
	for _, o := range objects {
		if s := v.server(o.Name); s != nil && s.Running {
			all = errors.Join(all, r.Servers.SpoilDisk(ctx, s.Address, spoil))
		}
	}
	return all
}

// SpoilDisk asks the library for it.
func (Network) SpoilDisk(ctx context.Context, host string, spoil Spoil) error {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	syncs := 0
	if spoil.Syncs {
		syncs = 1
	}
	url := fmt.Sprintf("http://%s/spoil?id=%d&errno=%d&percent=%d&syncs=%d&delay_ms=%d&for_ms=%d", net.JoinHostPort(host, strconv.Itoa(diskPort)),
		spoil.ID, spoil.Error, spoil.Percent, syncs, spoil.Delay.Milliseconds(), spoil.Duration.Milliseconds())
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	return response.Body.Close()
}
