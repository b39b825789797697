package openstack

import (
	"context"
	"fmt"
	"net/http"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"

	machinev1alpha1 "github.com/trellis-garden/trellis/apis/openstack/machine/v1alpha1"
	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/e2e/internal/gardenlet"
	"github.com/trellis-garden/trellis/e2e/internal/nodes"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/conformance"
)

// What the fake offers for machines: its first zone, an operating system in two versions, and two of its flavors.
const (
	Zone = "zone-a"

	MachineImage  = "gardenlinux"
	PreviousImage = "1877.5.0"
	LatestImage   = "1877.6.0"

	// MachineController is the name of the machine controller's container.
	MachineController = "machine-controller-manager-provider-" + Type

	SmallMachine = "m1.small"
	LargeMachine = "m1.medium"
)

// OfferMachines adds the fake's zones, images and flavors to the cloud profile of a shoot of NewShoot, and adds missing images to the fake. A fake
// in another process and a real cloud must have the image of LatestImage.
func (a *Account) OfferMachines(shoot *gardenlet.Shoot) {
	if a.Cloud.Fake != nil {
		a.Cloud.Fake.AddImage(GlanceImage(LatestImage), "x86_64")
	}
	shoot.MachineTypes = []gardencorev1beta1.MachineType{
		gardenlet.NewMachineType(SmallMachine, "1", "2Gi"), gardenlet.NewMachineType(LargeMachine, "2", "4Gi"),
	}
	shoot.MachineImages = []gardencorev1beta1.MachineImage{gardenlet.NewMachineImage(MachineImage, PreviousImage, LatestImage)}
	profile := cloudProfileConfig(a.Cloud)
	profile.ServerGroupPolicies = []string{"soft-anti-affinity", "anti-affinity"}
	profile.MachineImages = []openstackv1alpha1.MachineImages{{Name: MachineImage, Versions: []openstackv1alpha1.MachineImageVersion{
		{Version: PreviousImage, Image: GlanceImage(PreviousImage)}, {Version: LatestImage, Image: GlanceImage(LatestImage)},
	}}}
	shoot.CloudProfileConfig = profile
}

// GlanceImage is the name in the cloud of a version of the operating system.
func GlanceImage(version string) string {
	if version == PreviousImage {
		return MachineImage // which the fake has
	}
	return MachineImage + "-" + version
}

// NewPool returns a pool of small machines, defaulted as by Gardener's API server.
func NewPool(name string, minimum, maximum int32) gardencorev1beta1.Worker {
	return gardenlet.NewPool(name, minimum, maximum, SmallMachine, MachineImage, PreviousImage, Zone)
}

// Servers lists the servers of a shoot in an account, bypassing the proxy.
func (a *Account) Servers(shoot *gardenlet.Shoot) func(context.Context) ([]nodes.Server, error) {
	version := shoot.KubernetesVersion // tests change it while others ask for servers
	return func(ctx context.Context) ([]nodes.Server, error) {
		answer, err := a.DoAsMember(ctx, http.MethodGet, conformance.Compute, "/v2.1/servers/detail", nil)
		if err != nil {
			return nil, fmt.Errorf("listing the servers of shoot %s: %w", shoot.Name, err)
		}
		var servers []nodes.Server
		for _, server := range answer.Objects("servers") {
			metadata, _ := server.At("metadata").(map[string]any)
			if _, ours := metadata[machinev1alpha1.TagClusterPrefix+shoot.Namespace()]; !ours {
				continue
			}
			servers = append(servers, nodes.Server{
				ID: server.ID(), Name: server.Text("name"), Running: server.Text("status") == "ACTIVE", ProviderID: "openstack:///" + server.ID(),
				Zone: server.Text("OS-EXT-AZ:availability_zone"), Region: a.Cloud.Region(), Address: addressOf(server),
				KubernetesVersion: version,
			})
		}
		return servers, nil
	}
}

// MachineControllerEnv implements cloud.MachineAccount: cloud profiles name the cloud.
func (a *Account) MachineControllerEnv() map[string]string { return nil }

// addressOf returns the first address of a server.
func addressOf(server conformance.Object) string {
	networks, _ := server.At("addresses").(map[string]any)
	for network := range networks {
		for _, address := range server.Objects("addresses." + network) {
			return address.Text("addr")
		}
	}
	return ""
}
