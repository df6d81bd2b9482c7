package image

import (
	"archive/tar"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

func TestAnImageHoldsItsFilesAndSaysHowToRunThem(t *testing.T) {
	source := writeFile(t, "server", "#!/bin/server", 0o755)
	image := build(t, Spec{
		Name:       "example.dev/server:1",
		Binaries:   []File{{source, "/usr/local/bin/server"}},
		Links:      map[string]string{"/bin/sh": "busybox"},
		Entrypoint: []string{"/usr/local/bin/server", "--flag"},
		User:       "65532",
	})
	config, err := image.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	if config.OS != "linux" || config.Architecture != runtime.GOARCH {
		t.Errorf("platform is %q/%q: containerd would skip the image", config.OS, config.Architecture)
	}
	if got := strings.Join(config.Config.Entrypoint, " "); got != "/usr/local/bin/server --flag" {
		t.Errorf("entrypoint is %q", got)
	}
	if config.Config.User != "65532" {
		t.Errorf("user is %q", config.Config.User)
	}
	entries := contents(t, image)
	if server := entries["usr/local/bin/server"]; server.Mode != 0o755 || server.Size != 13 {
		t.Errorf("the program is %+v", server)
	}
	if link := entries["bin/sh"]; link.Linkname != "busybox" {
		t.Errorf("the link is %+v", link)
	}
	if tmp := entries["tmp"]; tmp.Mode != 0o1777 {
		t.Errorf("/tmp is %+v: programs could not write there", tmp)
	}
	if _, ok := entries["etc/passwd"]; !ok {
		t.Error("there is no /etc/passwd")
	}
}

func TestTheSameContentGivesTheSameImage(t *testing.T) {
	spec := Spec{Name: "example.dev/a:1", Binaries: []File{{writeFile(t, "a", "content", 0o755), "/a"}}}
	first, err := build(t, spec).Digest()
	if err != nil {
		t.Fatal(err)
	}
	second, err := build(t, spec).Digest()
	if err != nil {
		t.Fatal(err)
	}
	if first != second {
		t.Errorf("%v is not %v", first, second)
	}
}

func TestTheClosureHoldsTheLoaderAndTheLibraries(t *testing.T) {
	image := build(t, Spec{Name: "example.dev/sh:1", Binaries: []File{{"/bin/sh", "/bin/sh"}}, LibClosure: true})
	found := map[string]bool{}
	for path := range contents(t, image) {
		for _, library := range []string{"libc.so.", "ld-linux"} {
			found[library] = found[library] || strings.Contains(path, library)
		}
	}
	if !found["libc.so."] || !found["ld-linux"] {
		t.Errorf("the image lacks a library: %v", found)
	}
}

func TestAFolderIsTakenWhole(t *testing.T) {
	file := writeFile(t, "plugin.so", "x", 0o644)
	image := build(t, Spec{Name: "example.dev/p:1", Extra: []File{{filepath.Dir(file), "/plugins"}}})
	if _, ok := contents(t, image)["plugins/plugin.so"]; !ok {
		t.Error("the folder's file is missing")
	}
}

func TestAMissingSourceFailsTheBuildAndLeavesNoArchive(t *testing.T) {
	archive := filepath.Join(t.TempDir(), "image.tar")
	err := Build(Spec{Name: "example.dev/a:1", Binaries: []File{{"/no/such/file", "/a"}}}, archive)
	if !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error is %v", err)
	}
	if _, err := os.Stat(archive); err == nil {
		t.Error("an archive was written")
	}
}

func TestParseLdd(t *testing.T) {
	paths, err := parseLdd("\tlinux-vdso.so.1 (0x00007f)\n\tlibz.so.1 => /lib/x/libz.so.1 (0x00007f)\n\t/lib64/ld-linux-x86-64.so.2 (0x00007f)\n")
	if err != nil || strings.Join(paths, " ") != "/lib/x/libz.so.1 /lib64/ld-linux-x86-64.so.2" {
		t.Errorf("%v, %v", paths, err)
	}
	_, err = parseLdd("\tlibmissing.so.3 => not found\n")
	if err == nil || !strings.Contains(err.Error(), "libmissing.so.3") {
		t.Errorf("a missing library gives %v", err)
	}
}

func TestParseFile(t *testing.T) {
	for arg, want := range map[string]File{
		"build/bin/commitd":    {"build/bin/commitd", "/usr/local/bin/commitd"},
		"/usr/sbin/tc:/sbin/x": {"/usr/sbin/tc", "/sbin/x"},
	} {
		if got, err := ParseFile(arg); err != nil || got != want {
			t.Errorf("%q: %+v, %v", arg, got, err)
		}
	}
	for _, arg := range []string{":/x", "a:relative"} {
		if _, err := ParseFile(arg); err == nil {
			t.Errorf("%q was accepted", arg)
		}
	}
}

func build(t *testing.T, spec Spec) v1.Image {
	t.Helper()
	archive := filepath.Join(t.TempDir(), "image.tar")
	if err := Build(spec, archive); err != nil {
		t.Fatal(err)
	}
	image, err := tarball.ImageFromPath(archive, nil)
	if err != nil {
		t.Fatal(err)
	}
	return image
}

func contents(t *testing.T, image v1.Image) map[string]tar.Header {
	t.Helper()
	stream := mutate.Extract(image)
	defer stream.Close()
	entries := map[string]tar.Header{}
	for reader := tar.NewReader(stream); ; {
		header, err := reader.Next()
		if err == io.EOF {
			return entries
		}
		if err != nil {
			t.Fatal(err)
		}
		entries[header.Name] = *header
	}
}

func writeFile(t *testing.T, name, content string, mode os.FileMode) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), mode); err != nil {
		t.Fatal(err)
	}
	return path
}
