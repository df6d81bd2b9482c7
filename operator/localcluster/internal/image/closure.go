package image

import (
	"bufio"
	"bytes"
	"debug/elf"
	"fmt"
	"io/fs"
	"os/exec"
	"path/filepath"
	"strings"
)

// libraryClosure finds the shared libraries that the programs, and the plugins
// among the extra files, are linked with, as the dynamic loader would. They
// keep their places: the loader's own path is written into every program.
func libraryClosure(groups ...[]File) ([]File, error) {
	found := map[string]bool{}
	var libraries []File
	for _, group := range groups {
		for _, file := range group {
			err := eachDynamic(file.Source, func(path string) error {
				paths, err := dependencies(path)
				for _, library := range paths {
					if !found[library] {
						found[library] = true
						libraries = append(libraries, File{Source: library, Target: library})
					}
				}
				return err
			})
			if err != nil {
				return nil, err
			}
		}
	}
	return libraries, nil
}

// eachDynamic calls visit for every dynamically linked file at or below root.
func eachDynamic(root string, visit func(path string) error) error {
	return filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !isDynamic(path) {
			return err
		}
		return visit(path)
	})
}

func isDynamic(path string) bool {
	file, err := elf.Open(path)
	if err != nil {
		return false // not a program: nothing to look for
	}
	defer file.Close()
	return file.Section(".dynamic") != nil
}

func dependencies(program string) ([]string, error) {
	out, err := exec.Command("ldd", program).CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("ldd %s: %w: %s", program, err, bytes.TrimSpace(out))
	}
	return parseLdd(string(out))
}

// parseLdd reads lines such as "libc.so.6 => /lib/x/libc.so.6 (0x7f…)" and
// "/lib64/ld-linux-x86-64.so.2 (0x7f…)".
func parseLdd(out string) ([]string, error) {
	var paths []string
	lines := bufio.NewScanner(strings.NewReader(out))
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		if library, _, missing := strings.Cut(line, " => not found"); missing {
			return nil, fmt.Errorf("the shared library %s is not installed", library)
		}
		if _, path, found := strings.Cut(line, " => "); found {
			line = path
		}
		path, _, _ := strings.Cut(line, " (")
		if strings.HasPrefix(path, "/") {
			paths = append(paths, path)
		}
	}
	return paths, nil
}
