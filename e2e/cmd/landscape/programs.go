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
	"github.com/trellis-garden/trellis/e2e/internal/lifecycle"
)

// kubeAPIServer is the name of a program, and of its container.
const kubeAPIServer = "kube-apiserver"

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
func (o options) thirdParty() []string {
	programs := append(assets.Machines(), "gardener-apiserver", "gardener-controller-manager", "gardenlet")
	if o.upgrades() {
		programs = append(programs, assets.Previous()...)
	}
	return programs
}

// upgrades reports whether a Shoot is upgraded to another minor version of Kubernetes.
func (o options) upgrades() bool {
	return o.steps == nil || slices.Contains(o.steps, lifecycle.UpgradeStep)
}

// kubernetesVersions are those that control planes of shoots can have, ascending. buildPrograms has been called.
func (o options) kubernetesVersions() ([]string, error) {
	if !o.upgrades() {
		return []string{kubernetesVersion}, nil
	}
	previous, err := assets.Version(assets.PreviousOf(kubeAPIServer))
	return []string{strings.TrimPrefix(previous, "v"), kubernetesVersion}, err
}

// buildPrograms builds all programs that are missing or out of date.
func (o options) buildPrograms(ctx context.Context, progress io.Writer) error {
	if _, err := assets.Ensure(ctx, progress, o.thirdParty()...); err != nil {
		return err
	}
	for _, binary := range ours() {
		if _, err := binary.Build(ctx); err != nil {
			return err
		}
	}
	return nil
}

// containers finds the program of a container, by the name of the image if it is ours, and otherwise by the container's. previous are those of images
// whose tag is of the previous version of Kubernetes.
type containers struct {
	ours, others, previous map[string]string
	previousTag            string
}

// newContainers requires that buildPrograms has been called.
func (o options) newContainers() (containers, error) {
	dir, err := assets.Dir()
	if err != nil {
		return containers{}, err
	}
	c := containers{ours: map[string]string{}, others: map[string]string{}, previous: map[string]string{}}
	for _, binary := range ours() {
		if c.ours[binary.Name], err = binary.Path(); err != nil {
			return containers{}, err
		}
	}
	for _, name := range []string{
		kubeAPIServer, "kube-controller-manager", "gardener-resource-manager", "machine-controller-manager", "openstack-cloud-controller-manager",
	} {
		if !slices.Contains(o.thirdParty(), name) {
			return containers{}, fmt.Errorf("there is no program %s", name)
		}
		c.others[name] = filepath.Join(dir, name)
		if previous := assets.PreviousOf(name); slices.Contains(o.thirdParty(), previous) {
			c.previous[name] = filepath.Join(dir, previous)
		}
	}
	if o.upgrades() {
		c.previousTag, err = assets.Version(assets.PreviousOf(kubeAPIServer))
	}
	return c, err
}

func (c containers) program(image, container string) (string, bool) {
	image, _, _ = strings.Cut(image, "@")
	name, tag, _ := strings.Cut(path.Base(image), ":")
	if strings.Contains(image, "/trellis/") {
		found, ok := c.ours[name]
		return found, ok
	}
	if found, ok := c.previous[container]; ok && tag == c.previousTag {
		return found, true
	}
	found, ok := c.others[container]
	return found, ok
}
