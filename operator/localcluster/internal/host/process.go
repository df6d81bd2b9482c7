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
	start, err := startTime(pid)
	return Process{PID: pid, StartTime: start}, err
}

// Alive tells whether this very process still runs.
func (p Process) Alive() bool {
	start, err := startTime(p.PID)
	return err == nil && start == p.StartTime
}

// startTime reads field 22 of /proc/PID/stat. A zombie counts as gone.
func startTime(pid int) (string, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return "", err
	}
	return parseStartTime(string(stat))
}

func parseStartTime(stat string) (string, error) {
	// The second field is the program's name in brackets and may hold anything.
	_, rest, found := cutLast(stat, ") ")
	fields := strings.Fields(rest)
	const state, start = 0, 19 // counted from field 3
	if !found || len(fields) <= start {
		return "", fmt.Errorf("cannot read a start time from %q", stat)
	}
	if fields[state] == "Z" {
		return "", os.ErrProcessDone
	}
	return fields[start], nil
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}
