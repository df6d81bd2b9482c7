package host

import (
	"os"
	"path/filepath"
	"strings"
)

// kubeletSysctls are the settings of the whole machine that kubelet changes.
var kubeletSysctls = []string{"vm/overcommit_memory", "vm/panic_on_oom", "kernel/panic", "kernel/panic_on_oops"}

// SaveSysctls reads what RestoreSysctls will put back. root is /proc/sys.
func SaveSysctls(root string) map[string]string {
	saved := map[string]string{}
	for _, name := range kubeletSysctls {
		if value, err := os.ReadFile(filepath.Join(root, name)); err == nil {
			saved[name] = strings.TrimSpace(string(value))
		}
	}
	return saved
}

// RestoreSysctls writes saved values back; one that fails does not stop the rest.
func RestoreSysctls(root string, saved map[string]string) error {
	var failed error
	for name, value := range saved {
		if err := os.WriteFile(filepath.Join(root, name), []byte(value), 0o644); err != nil {
			failed = err
		}
	}
	return failed
}
