package dbserver

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// Disk says what the disk does at a power loss.
type Disk int

const (
	// Forgetful disks lose what was not synced.
	Forgetful Disk = iota
	// Torn disks keep the first of it, and lose the rest.
	Torn
)

// On puts the data on such a disk: with every end of the process the machine loses power. While the file Server.Lies is there, the disk
// answers syncs without doing them. The library is built from chaos/powerloss.
func (c Commands) On(disk Disk, library string) Commands {
	c.Env = append(slices.Clone(c.Env), "LD_PRELOAD="+library, "POWERLOSS_DATA={datadir}", "POWERLOSS_DIR={unsynced}", "POWERLOSS_LYING={unsynced}/lying")
	if disk == Torn {
		c.Env = append(c.Env, "POWERLOSS_KEEP=some")
	}
	return c
}

func (s *Server) unsyncedDir() string { return filepath.Join(s.dir, "unsynced") }

// Lies is the file that makes the disk lie.
func (s *Server) Lies() string { return filepath.Join(s.unsyncedDir(), "lying") }

// UnsyncedWrites counts those that all power losses together have taken away.
func (s *Server) UnsyncedWrites() (int, error) {
	file, err := os.Open(filepath.Join(s.unsyncedDir(), "lost"))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer file.Close()
	all := 0
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		var writes int
		if _, err := fmt.Sscanf(lines.Text(), "%d unsynced writes lost", &writes); err != nil {
			return 0, err
		}
		all += writes
	}
	return all, lines.Err()
}

// PowerLossLibrary is where the library is, whatever the directory is that a server runs in.
func PowerLossLibrary(file string) (string, error) {
	library, err := filepath.Abs(file)
	if err == nil {
		_, err = os.Stat(library)
	}
	if err != nil {
		return "", fmt.Errorf("%w: build it with make -C chaos/powerloss, or say where it is with --power-library", err)
	}
	return library, nil
}
