package image

import (
	"context"
	"fmt"
	"io"
	"os"
	"path"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// Push uploads an archive's image as registry/NAME:tag, where NAME is the last part of its own name, and returns the name it has then. Who
// may do so is read from Docker's configuration, where `docker login` and its relatives leave it.
func Push(ctx context.Context, archive, registry, tag string) (string, error) {
	manifest, err := tarball.LoadManifest(tarballOpener(archive))
	if err != nil {
		return "", fmt.Errorf("%s: %w", archive, err)
	}
	if len(manifest) != 1 || len(manifest[0].RepoTags) != 1 {
		return "", fmt.Errorf("%s holds not one image with one name", archive)
	}
	own, err := name.NewTag(manifest[0].RepoTags[0])
	if err != nil {
		return "", err
	}
	target, err := name.NewTag(registry + "/" + path.Base(own.RepositoryStr()) + ":" + tag)
	if err != nil {
		return "", err
	}
	image, err := tarball.ImageFromPath(archive, &own)
	if err != nil {
		return "", err
	}
	if image, err = compressed(image); err != nil {
		return "", err
	}
	err = remote.Write(target, image, remote.WithContext(ctx), remote.WithAuthFromKeychain(authn.DefaultKeychain))
	return target.Name(), err
}

// compressed makes the same image of layers that are worth sending.
func compressed(image v1.Image) (v1.Image, error) {
	config, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	layers, err := image.Layers()
	if err != nil {
		return nil, err
	}
	smaller := make([]v1.Layer, len(layers))
	for i, layer := range layers {
		if smaller[i], err = tarball.LayerFromOpener(layer.Uncompressed, tarball.WithCompressedCaching); err != nil {
			return nil, err
		}
	}
	built, err := mutate.AppendLayers(empty.Image, smaller...)
	if err != nil {
		return nil, err
	}
	config = config.DeepCopy()
	if config.RootFS, err = rootFS(built); err != nil {
		return nil, err
	}
	return mutate.ConfigFile(built, config)
}

func rootFS(image v1.Image) (v1.RootFS, error) {
	config, err := image.ConfigFile()
	if err != nil {
		return v1.RootFS{}, err
	}
	return config.RootFS, nil
}

func tarballOpener(archive string) tarball.Opener {
	return func() (io.ReadCloser, error) { return os.Open(archive) }
}
