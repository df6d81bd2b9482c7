package image

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const dockerfile = `# A program that is linked with libz.
FROM debian:bookworm-slim
RUN apt-get update && apt-get install -y --no-install-recommends zlib1g \
    libfmt9 && rm -rf /var/lib/apt/lists/*
COPY bin/program /usr/bin/program
COPY data /data
ARG SIZE=small
ENV COLOUR=red LABEL=${SIZE}-one
USER 999
ENTRYPOINT ["/usr/bin/program", "--flag"]
`

func TestADockerfileIsRead(t *testing.T) {
	d, err := ParseDockerfile(dockerfile)
	if err != nil {
		t.Fatal(err)
	}
	if d.Base != "debian:bookworm-slim" || d.User != "999" || !slices.Equal(d.Packages, []string{"zlib1g", "libfmt9"}) ||
		!slices.Equal(d.Copies, []File{{"bin/program", "/usr/bin/program"}, {"data", "/data"}}) ||
		!slices.Equal(d.Env, []string{"COLOUR=red", "LABEL=small-one"}) ||
		!slices.Equal(d.Entrypoint, []string{"/usr/bin/program", "--flag"}) {
		t.Errorf("%+v", d)
	}
}

func TestABuildArgumentReplacesWhatItsDockerfileSays(t *testing.T) {
	if d, err := ParseDockerfile(dockerfile, "SIZE=large"); err != nil || !slices.Contains(d.Env, "LABEL=large-one") {
		t.Errorf("%+v, %v", d, err)
	}
	for _, argument := range []string{"WEIGHT=1", "SIZE"} {
		if _, err := ParseDockerfile(dockerfile, argument); err == nil || !strings.Contains(err.Error(), argument) {
			t.Errorf("%s: %v", argument, err)
		}
	}
}

func TestWhatWouldBeInOneImageOnlyIsRefused(t *testing.T) {
	for _, line := range []string{"ENV A b", "ENV A=\"b c\"", "ENV A=${UNKNOWN}", "ARG NAME", "RUN make install", "COPY --from=builder /a /b", "COPY a b /c/", "CMD [\"/a\"]", "ENTRYPOINT /a", "FROM other"} {
		if _, err := ParseDockerfile(dockerfile + line + "\n"); err == nil || !strings.Contains(err.Error(), line) {
			t.Errorf("%s: %v", line, err)
		}
	}
	if _, err := ParseDockerfile("FROM scratch\nCOPY a /a\nENTRYPOINT [\"/a\"]\n"); err == nil {
		t.Error("an image that runs as root was taken")
	}
}

func TestTheImageHoldsWhatTheDockerfileCopies(t *testing.T) {
	context := t.TempDir()
	place(t, context, "bin/program", "/bin/sh")
	place(t, context, "data/file", "/etc/passwd")
	if err := os.WriteFile(filepath.Join(context, "Dockerfile"), []byte(dockerfile), 0o644); err != nil {
		t.Fatal(err)
	}
	spec := Spec{Name: "example.dev/a:1"}
	if err := spec.FillFrom(filepath.Join(context, "Dockerfile"), context); err != nil {
		t.Fatal(err)
	}
	image := build(t, spec)
	entries := contents(t, image)
	for _, path := range []string{"usr/bin/program", "data/file"} {
		if _, found := entries[path]; !found {
			t.Errorf("%s is not in the image", path)
		}
	}
	config, err := image.ConfigFile()
	if err != nil || config.Config.User != "999" || !slices.Contains(config.Config.Env, "LABEL=small-one") || !slices.Equal(config.Config.Entrypoint, []string{"/usr/bin/program", "--flag"}) {
		t.Errorf("%+v, %v", config, err)
	}
}

func TestALibraryThatNothingInstallsIsNamed(t *testing.T) {
	d, err := ParseDockerfile(dockerfile)
	if err != nil {
		t.Fatal(err)
	}
	libraries, err := libraryClosure([]File{{Source: "/usr/bin/dpkg-deb", Target: "/usr/bin/dpkg-deb"}}) // of every Debian; linked with liblzma, libzstd …
	if err != nil {
		t.Fatal(err)
	}
	missing, err := d.lacks(libraries)
	if err != nil || !slices.Contains(missing, "liblzma5") || slices.Contains(missing, "zlib1g") || slices.Contains(missing, "libc6") {
		t.Errorf("%v, %v", missing, err)
	}
	d.Base = "scratch"
	if missing, err = d.lacks(libraries); err != nil || !slices.Contains(missing, "libc6") {
		t.Errorf("nothing is in scratch, and yet: %v, %v", missing, err)
	}
}

// The Dockerfiles of this tree, all of them: no step of a build here runs Docker on them.
func TestEveryDockerfileOfTheTreeIsUnderstood(t *testing.T) {
	root := filepath.Join("..", "..", "..", "..")
	found, err := filepath.Glob(filepath.Join(root, "*", "Dockerfile"))
	if err != nil {
		t.Fatal(err)
	}
	deeper, err := filepath.Glob(filepath.Join(root, "*", "*", "Dockerfile"))
	if err != nil {
		t.Fatal(err)
	}
	found = append(found, deeper...)
	if len(found) < 5 {
		t.Fatalf("only %v", found)
	}
	ignored, err := os.ReadFile(filepath.Join(root, ".dockerignore"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range found {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		d, err := ParseDockerfile(string(text))
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		for _, file := range d.Copies {
			if !slices.Contains(strings.Split(string(ignored), "\n"), "!"+file.Source) {
				t.Errorf("%s copies %s, which .dockerignore keeps from Docker", path, file.Source)
			}
			if strings.HasPrefix(file.Source, "build/") {
				continue // made by `make images`, which fails without it
			}
			if _, err := os.Stat(filepath.Join(root, file.Source)); err != nil {
				t.Errorf("%s copies what is not there: %v", path, err)
			}
		}
	}
}

func place(t *testing.T, context, name, source string) {
	t.Helper()
	target := filepath.Join(context, name)
	if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(source)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(target, content, 0o755); err != nil {
		t.Fatal(err)
	}
}
