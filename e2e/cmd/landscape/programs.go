package main

import (
	"context"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/trellis-garden/trellis/e2e/internal/assets"
	"github.com/trellis-garden/trellis/e2e/internal/controller"
)

// ours are our binaries.
func ours() []controller.Binary {
	return []controller.Binary{
		controller.Infrastructure(), controller.ControlPlane(), controller.Worker(), controller.Network(), controller.Machine(), controller.Admission(),
	}
}

// registrations are the folders of our registrations in charts/registrations.
func registrations() []string { return []string{"infrastructure", "controlplane", "worker", "network"} }

// installedFirst are those of them that a Seed needs because of its provider. The others are installed for the first Shoot.
func installedFirst() []string { return []string{"infrastructure", "controlplane", "worker"} }

// thirdParty are the programs of others.
func thirdParty() []string {
	return append(assets.Machines(), "gardener-apiserver", "gardener-controller-manager", "gardenlet")
}

// buildPrograms builds all programs that are missing or out of date.
func buildPrograms(ctx context.Context, progress io.Writer) error {
	if _, err := assets.Ensure(ctx, progress, thirdParty()...); err != nil {
		return err
	}
	for _, binary := range ours() {
		if _, err := binary.Build(ctx); err != nil {
			return err
		}
	}
	return nil
}

// containers finds the program of a container, by the name of the image if it is ours, and otherwise by the container's.
type containers struct{ ours, others map[string]string }

// newContainers requires that buildPrograms has been called.
func newContainers() (containers, error) {
	dir, err := assets.Dir()
	if err != nil {
		return containers{}, err
	}
	c := containers{ours: map[string]string{}, others: map[string]string{}}
	for _, binary := range ours() {
		if c.ours[binary.Name], err = binary.Path(); err != nil {
			return containers{}, err
		}
	}
	for _, name := range []string{
		"kube-apiserver", "kube-controller-manager", "gardener-resource-manager", "machine-controller-manager", "openstack-cloud-controller-manager",
	} {
		if !slices.Contains(thirdParty(), name) {
			return containers{}, fmt.Errorf("there is no program %s", name)
		}
		c.others[name] = filepath.Join(dir, name)
	}
	return c, nil
}

func (c containers) program(image, container string) (string, bool) {
	if _, isOurs, _ := strings.Cut(image, "/trellis/"); isOurs != "" {
		name, _, _ := strings.Cut(path.Base(image), "@")
		name, _, _ = strings.Cut(name, ":")
		found, ok := c.ours[name]
		return found, ok
	}
	found, ok := c.others[container]
	return found, ok
}
