package recovery

import (
	"fmt"
	"slices"
	"syscall"

	"commitlab.dev/operator/api/v1alpha1"
)

// substitute is what a server's own library does where Chaos Mesh, or the kernel under it, may not be able to.
type substitute struct {
	trouble TroubleKind
	// says is what the status says of it: what it does, and what it leaves as it is.
	says string
	// how strong, as the library reads it.
	how func(Fault) string
	// evidence is of what, how that should be, and what has been done to it.
	of, before string
	done       func(f Fault, done int64) string
}

const inPlaceOfChaosMesh = "powerloss.so of the server's image, in place of Chaos Mesh: "

const (
	diskSubstitute       = inPlaceOfChaosMesh + "it answers what the server writes and syncs; reads go on"
	networkSubstitute    = inPlaceOfChaosMesh + "it keeps back what the server sends on TCP connections; the kernel's packets come in time"
	clockSubstitute      = inPlaceOfChaosMesh + "it answers the server's questions for the time; files have the right one"
	processorsSubstitute = inPlaceOfChaosMesh + "threads of the server's process spin"
	memorySubstitute     = inPlaceOfChaosMesh + "the server's process holds the memory"
)

var substitutes = map[v1alpha1.FaultKind]substitute{
	v1alpha1.DiskFull:  ofDisk(func(Fault) string { return refusing(syscall.ENOSPC, everything, 0) }, refused(syscall.ENOSPC)),
	v1alpha1.DiskError: ofDisk(func(f Fault) string { return refusing(syscall.EIO, f.Percent, 1) }, refused(syscall.EIO)),
	v1alpha1.DiskSlow: ofDisk(func(f Fault) string {
		return fmt.Sprintf("errno=0&percent=%d&syncs=1&delay_ms=%d", everything, f.Latency.Milliseconds())
	}, func(_ Fault, done int64) string { return fmt.Sprintf("%d calls made late", done) }),
	v1alpha1.NetworkDelay: ofNetwork(func(f Fault) string {
		return fmt.Sprintf("delay_ms=%d&loss_percent=0", f.Latency.Milliseconds())
	}, "%d times late with what the server sent"),
	v1alpha1.NetworkLoss: ofNetwork(func(f Fault) string {
		return fmt.Sprintf("delay_ms=0&loss_percent=%d", f.Percent)
	}, "%d times in need of sending again what the server sent"),
	v1alpha1.ClockSkew: {TroubleOfClock, clockSubstitute,
		func(f Fault) string { return fmt.Sprintf("offset_ms=%d", f.Offset.Milliseconds()) },
		"clock", "right", func(f Fault, done int64) string { return fmt.Sprintf("%s off in %d answers", f.Offset, done) }},
	v1alpha1.CPUStress: {TroubleOfProcessors, processorsSubstitute,
		func(Fault) string { return fmt.Sprintf("threads=%d", stressWorkers) },
		"processors", "the server's", func(_ Fault, done int64) string { return fmt.Sprintf("used up for %d ms so far", done) }},
	v1alpha1.MemoryStress: {TroubleOfMemory, memorySubstitute,
		func(f Fault) string { return fmt.Sprintf("bytes=%d", f.Memory) },
		"memory", "the server's", allOfIt},
}

// everything is the percentage of calls that are met.
const everything = 100

func ofDisk(how func(Fault) string, done func(Fault, int64) string) substitute {
	return substitute{TroubleOfDisk, diskSubstitute, how, "disk", "as it should be", done}
}

func ofNetwork(how func(Fault) string, done string) substitute {
	return substitute{TroubleOfNetwork, networkSubstitute, how, "network", "as it should be",
		func(_ Fault, times int64) string { return fmt.Sprintf(done, times) }}
}

func refusing(error syscall.Errno, percent int32, syncs int) string {
	return fmt.Sprintf("errno=%d&percent=%d&syncs=%d&delay_ms=0", error, percent, syncs)
}

func refused(error syscall.Errno) func(Fault, int64) string {
	return func(_ Fault, done int64) string { return fmt.Sprintf("%d calls refused with errno %d", done, error) }
}

// allOfIt: a part of the memory is not what was asked for.
func allOfIt(f Fault, done int64) string {
	if done < f.Memory {
		return ""
	}
	return fmt.Sprintf("less by %d bytes that are held", done)
}

// hasSubstitute: a server's library can do it by itself.
func (f Fault) hasSubstitute() bool { _, has := substitutes[f.Kind]; return has }

// noneForgets: every server says that it has no such library. One that does not run says nothing.
func (v *View) noneForgets() bool {
	return len(v.Servers) > 0 && !slices.ContainsFunc(v.Servers, func(s Server) bool { return !s.PlainDisk })
}

// choosesInjector says by whom a fault is done that has a substitute: by all its targets' libraries, or by Chaos Mesh. Where that is not known yet,
// or neither can, it is not begun.
func (d *decision) choosesInjector(i int, objects []v1alpha1.FaultObject) bool {
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
		status.Substitute, f.Substituted = substitutes[f.Kind].says, true
	case d.status.Injector == v1alpha1.InjectorBuiltIn:
		d.cannotBeDone(*f, status, string(f.Kind)+" needs Chaos Mesh, which is not installed or not to be used, or another image for "+plain)
		return false
	}
	return true
}

// substituted is what the library has done; empty while it is nothing.
func (d *decision) substituted(f Fault, o v1alpha1.FaultObject, s *Server) (kind, before, after string) {
	by := substitutes[f.Kind]
	switch {
	case s == nil:
		return "", "", ""
	case f.Kind == v1alpha1.MemoryStress && o.ContainerID != "" && s.OutOfMemory == o.ContainerID:
		return "container-id", o.ContainerID, "killed for the memory that it had"
	case s.Disk == nil:
		return "", "", ""
	}
	told := s.Disk.Told[by.trouble]
	if told.ID != troubleID(d.view.Test, f) || told.Done == 0 {
		return "", "", ""
	}
	if after = by.done(f, told.Done); after != "" {
		after += " (" + by.says + ")"
	}
	return by.of, by.before, after
}

func (d *decision) mend(f Fault, status *v1alpha1.FaultStatus) {
	if f.Substituted {
		d.do(Mend{Fault: f, Objects: status.Objects})
	}
}

// mendAll ends all of it, before its time.
func (d *decision) mendAll() {
	for _, status := range d.status.Faults {
		if status.Phase == v1alpha1.FaultInjecting || status.Phase == v1alpha1.FaultInjected {
			d.mend(Fault{Name: status.Name, Kind: status.Kind, Substituted: status.Substitute != ""}, &status)
		}
	}
}
