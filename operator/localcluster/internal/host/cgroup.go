package host

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// RemoveCgroups deletes the empty control groups that kubelet and containerd
// leave behind, in every hierarchy (version 1) or the only one (version 2).
// root is /sys/fs/cgroup.
func RemoveCgroups(root string) {
	for _, name := range []string{"kubepods", "k8s.io"} {
		tops, _ := filepath.Glob(filepath.Join(root, "*", name))
		for _, top := range append(tops, filepath.Join(root, name)) {
			removeTree(top)
		}
	}
}

// removeTree removes directories from the leaves up. A cgroup's files go with
// it and cannot be removed one by one.
func removeTree(top string) {
	var dirs []string
	_ = filepath.WalkDir(top, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() {
			dirs = append(dirs, path)
		}
		return nil
	})
	slices.Reverse(dirs)
	for _, dir := range dirs {
		_ = os.Remove(dir) // one that is still in use stays; it is harmless
	}
}
