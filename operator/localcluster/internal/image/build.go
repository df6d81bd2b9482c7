// Package image assembles container images from files on this machine, without
// a registry, a daemon or a base image.
package image

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

const certificates = "/etc/ssl/certs/ca-certificates.crt"

// File is a host file (or directory, taken whole) and its place in the image.
type File struct{ Source, Target string }

// Spec says what goes into an image.
type Spec struct {
	Name       string // NAME:TAG
	Binaries   []File
	Extra      []File
	Links      map[string]string // place in the image → what it points to
	LibClosure bool              // add the shared libraries the binaries need
	Entrypoint []string
	User       string
	Env        []string // NAME=VALUE, besides PATH
}

// ParseFile reads SOURCE[:TARGET]; a program without a target goes to
// /usr/local/bin.
func ParseFile(arg string) (File, error) {
	source, target, found := strings.Cut(arg, ":")
	if !found {
		target = "/usr/local/bin/" + filepath.Base(source)
	}
	if source == "" || !strings.HasPrefix(target, "/") {
		return File{}, fmt.Errorf("%q is not SOURCE[:/PATH/IN/IMAGE]", arg)
	}
	return File{Source: source, Target: target}, nil
}

// Build writes the image as an archive that containerd and Docker import.
func Build(spec Spec, archive string) error {
	tag, err := name.NewTag(spec.Name, name.StrictValidation)
	if err != nil {
		return err
	}
	content, err := layerContent(spec)
	if err != nil {
		return err
	}
	// Not compressed: the archive goes no further than this machine.
	layer := static.NewLayer(content, types.DockerUncompressedLayer)
	image, err := mutate.AppendLayers(empty.Image, layer)
	if err != nil {
		return err
	}
	image, err = mutate.ConfigFile(image, configFor(spec, image))
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(archive), 0o755); err != nil {
		return err
	}
	temporary := archive + ".new"
	if err := tarball.WriteToFile(temporary, tag, image); err != nil {
		return err
	}
	return os.Rename(temporary, archive)
}

// configFor fills in the platform: containerd skips an image without one.
func configFor(spec Spec, image v1.Image) *v1.ConfigFile {
	config, err := image.ConfigFile()
	if err != nil {
		panic(err) // the empty image with a layer in memory always has one
	}
	config = config.DeepCopy()
	config.OS, config.Architecture = "linux", runtime.GOARCH
	config.Config = v1.Config{
		Entrypoint: spec.Entrypoint,
		User:       spec.User,
		WorkingDir: "/",
		Env:        append([]string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}, spec.Env...),
	}
	return config
}

func layerContent(spec Spec) ([]byte, error) {
	files := slices.Concat(spec.Binaries, spec.Extra)
	if spec.LibClosure {
		libraries, err := libraryClosure(spec.Binaries, spec.Extra)
		if err != nil {
			return nil, err
		}
		files = append(files, libraries...)
	}
	if _, err := os.Stat(certificates); err == nil {
		files = append(files, File{Source: certificates, Target: certificates})
	}
	var content bytes.Buffer
	layer := newLayerWriter(&content)
	layer.directory("/tmp", 0o1777)
	layer.bytes("/etc/passwd", []byte("root:x:0:0:root:/root:/sbin/nologin\nnonroot:x:65532:65532:nonroot:/:/sbin/nologin\n"))
	layer.bytes("/etc/group", []byte("root:x:0:\nnonroot:x:65532:\n"))
	for _, file := range files {
		layer.copy(file.Source, file.Target)
	}
	for _, place := range slices.Sorted(maps.Keys(spec.Links)) {
		layer.link(place, spec.Links[place])
	}
	return content.Bytes(), layer.close()
}

// layerWriter writes a reproducible tar: no times, no owners. The first error
// sticks and is returned by close.
type layerWriter struct {
	tar  *tar.Writer
	seen map[string]bool
	err  error
}

func newLayerWriter(w io.Writer) *layerWriter {
	return &layerWriter{tar: tar.NewWriter(w), seen: map[string]bool{"/": true}}
}

func (l *layerWriter) header(path string, h tar.Header) bool {
	if l.err != nil || l.seen[path] {
		return false
	}
	l.seen[path] = true
	l.directory(filepath.Dir(path), 0o755)
	h.Name = strings.TrimPrefix(path, "/")
	h.ModTime = time.Unix(0, 0)
	h.Format = tar.FormatPAX
	l.err = l.tar.WriteHeader(&h)
	return l.err == nil
}

func (l *layerWriter) directory(path string, mode int64) {
	l.header(path, tar.Header{Typeflag: tar.TypeDir, Mode: mode})
}

func (l *layerWriter) link(path, target string) {
	l.header(path, tar.Header{Typeflag: tar.TypeSymlink, Linkname: target, Mode: 0o777})
}

func (l *layerWriter) bytes(path string, content []byte) {
	if l.header(path, tar.Header{Typeflag: tar.TypeReg, Mode: 0o644, Size: int64(len(content))}) {
		_, l.err = l.tar.Write(content)
	}
}

func (l *layerWriter) copy(source, target string) {
	info, err := os.Stat(source)
	if err != nil {
		l.fail(err)
		return
	}
	if !info.IsDir() {
		l.file(source, target, info)
		return
	}
	entries, err := os.ReadDir(source)
	l.fail(err)
	l.directory(target, 0o755)
	for _, entry := range entries {
		l.copy(filepath.Join(source, entry.Name()), filepath.Join(target, entry.Name()))
	}
}

func (l *layerWriter) file(source, target string, info os.FileInfo) {
	in, err := os.Open(source)
	if err != nil {
		l.fail(err)
		return
	}
	defer in.Close()
	mode := int64(info.Mode().Perm())
	if l.header(target, tar.Header{Typeflag: tar.TypeReg, Mode: mode, Size: info.Size()}) {
		_, l.err = io.Copy(l.tar, in)
	}
}

func (l *layerWriter) fail(err error) {
	if l.err == nil {
		l.err = err
	}
}

func (l *layerWriter) close() error {
	if l.err != nil {
		return l.err
	}
	return l.tar.Close()
}
