package image

import (
	"fmt"
	"os/exec"
	"strings"
)

// Load imports archives into containerd, where kubelet looks for them.
func Load(ctr, socket string, archives ...string) error {
	for _, archive := range archives {
		out, err := exec.Command(ctr, "--address", socket, "--namespace", "k8s.io", "images", "import", archive).CombinedOutput()
		if err != nil {
			return fmt.Errorf("load %s: %w: %s", archive, err, strings.TrimSpace(string(out)))
		}
	}
	return nil
}
