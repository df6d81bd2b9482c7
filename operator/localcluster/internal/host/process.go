// Package host keeps account of what a running cluster changed on the host.
package host

import (
	"fmt"
	"os"
	"strings"
)

// Process identifies a process across reuse of its number.
type Process struct {
	PID       int    `json:"pid"`
	StartTime string `json:"startTime"` // clock ticks since boot
}

// Identify looks at a running process.
func Identify(pid int) (Process, error) {
	start, zombie, err := readStat(pid)
	if zombie {
		err = os.ErrProcessDone
	}
	return Process{PID: pid, StartTime: start}, err
}

// Alive tells whether any thread of this very process still runs. A process
// that has ended may stay in the process table for as long as its parent likes.
func (p Process) Alive() bool {
	start, zombie, err := readStat(p.PID)
	if err != nil || start != p.StartTime {
		return false
	}
	// The first thread may be done while another one still tears a PID
	// namespace down.
	threads, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", p.PID))
	return err == nil && (!zombie || len(threads) > 1)
}

func readStat(pid int) (start string, zombie bool, err error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return "", false, err
	}
	return parseStat(string(stat))
}

// parseStat reads fields 3 and 22 of /proc/PID/stat.
func parseStat(stat string) (startTime string, zombie bool, err error) {
	// The second field is the program's name in brackets and may hold anything.
	_, rest, found := cutLast(stat, ") ")
	fields := strings.Fields(rest)
	const state, start = 0, 22 - 3 // the rest begins with field 3
	if !found || len(fields) <= start {
		return "", false, fmt.Errorf("cannot read a start time from %q", stat)
	}
	return fields[start], fields[state] == "Z", nil
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}
