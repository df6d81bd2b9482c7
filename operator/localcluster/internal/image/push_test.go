package image

import (
	"io"
	"log"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

func TestAPushedImageIsTheOneThatWasBuilt(t *testing.T) {
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	defer server.Close()
	address := strings.TrimPrefix(server.URL, "http://") + "/team"
	archive := filepath.Join(t.TempDir(), "a.tar")
	spec := Spec{
		Name: "commitlab.dev/server:dev", Entrypoint: []string{"/server"}, User: "65532",
		Binaries: []File{{writeFile(t, "server", strings.Repeat("#!/bin/server", 1000), 0o755), "/server"}},
	}
	if err := Build(spec, archive); err != nil {
		t.Fatal(err)
	}
	pushed, err := Push(t.Context(), archive, address, "v1")
	if err != nil || pushed != address+"/server:v1" {
		t.Fatalf("%q, %v", pushed, err)
	}
	reference, err := name.ParseReference(pushed)
	if err != nil {
		t.Fatal(err)
	}
	image, err := remote.Image(reference)
	if err != nil {
		t.Fatal(err)
	}
	if server, found := contents(t, image)["server"]; !found || server.Size != 13000 || server.Mode != 0o755 {
		t.Errorf("the program is %+v", server)
	}
	config, err := image.ConfigFile()
	if err != nil || config.Config.User != "65532" || config.OS != "linux" || len(config.RootFS.DiffIDs) != 1 {
		t.Errorf("%+v, %v", config, err)
	}
	layers, err := image.Layers()
	if err != nil {
		t.Fatal(err)
	}
	if media, err := layers[0].MediaType(); err != nil || media != types.DockerLayer {
		t.Errorf("the layer is sent as %s, %v: not compressed", media, err)
	}
}

func TestARegistryThatRefusesIsAnError(t *testing.T) {
	archive := filepath.Join(t.TempDir(), "a.tar")
	if err := Build(Spec{Name: "commitlab.dev/a:dev", Binaries: []File{{writeFile(t, "a", "a", 0o755), "/a"}}}, archive); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(nil) // answers 404 to everything
	defer server.Close()
	if _, err := Push(t.Context(), archive, strings.TrimPrefix(server.URL, "http://"), "v1"); err == nil {
		t.Error("no error")
	}
	if _, err := Push(t.Context(), archive, "registry.example/UPPER", "v1"); err == nil || !strings.Contains(err.Error(), "UPPER") {
		t.Errorf("a name that no registry takes: %v", err)
	}
}
