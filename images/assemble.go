package images

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// assembled is one name's images, in the order given, and the index over them.
type assembled struct {
	images []v1.Image
	index  v1.ImageIndex
}

func assemble(images []Image) (assembled, error) {
	if len(images) == 0 {
		return assembled{}, errors.New("no image is given")
	}
	made := assembled{index: mutate.IndexMediaType(empty.Index, types.OCIImageIndex)}
	for i, image := range images {
		if slices.ContainsFunc(images[:i], func(before Image) bool { return before.Platform == image.Platform }) {
			return assembled{}, fmt.Errorf("platform %s is given twice", image.Platform)
		}
		one, err := image.assemble()
		if err != nil {
			return assembled{}, fmt.Errorf("platform %s: %w", image.Platform, err)
		}
		made.images = append(made.images, one)
		made.index = mutate.AppendManifests(made.index, mutate.IndexAddendum{
			Add:        one,
			Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: image.Platform.OS, Architecture: image.Platform.Architecture}},
		})
	}
	return made, nil
}

func (i Image) assemble() (v1.Image, error) {
	if i.Platform.OS == "" || i.Platform.Architecture == "" {
		return nil, errors.New("a platform has an operating system and an architecture, such as linux/amd64")
	}
	if len(i.Layers) == 0 {
		return nil, errors.New("no layers are given")
	}
	image := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	image, err := mutate.ConfigFile(image, &v1.ConfigFile{
		OS: i.Platform.OS, Architecture: i.Platform.Architecture,
		Created: v1.Time{Time: i.Config.Created.UTC()},
		RootFS:  v1.RootFS{Type: "layers"},
		Config: v1.Config{
			Entrypoint: i.Config.Entrypoint,
			Cmd:        i.Config.Cmd,
			Env:        i.Config.Env,
			User:       cmp.Or(i.Config.User, DefaultUser),
			WorkingDir: i.Config.WorkingDir,
			StopSignal: i.Config.StopSignal,
			Labels:     i.Config.Labels,
		},
	})
	if err != nil {
		return nil, err
	}
	history := v1.History{Created: v1.Time{Time: i.Config.Created.UTC()}}
	for _, layer := range i.Layers {
		if image, err = mutate.Append(image, mutate.Addendum{Layer: stored{layer}, History: history}); err != nil {
			return nil, err
		}
	}
	return image, nil
}
