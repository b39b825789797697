package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/e2e/internal/gardenlet"
	"github.com/trellis-garden/trellis/e2e/internal/openstack"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/conformance"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake"
)

// openStackDemo is the demo in OpenStack, with the real cloud-controller-manager and a change of the network.
type openStackDemo struct {
	*demo
	cloud   *openstack.Cloud
	account *openstack.Account
	// containerAddress is the address of the cloud-controller-manager.
	containerAddress string
}

func newOpenStackDemo(d *demo) cloudDemo {
	on := openstack.In(d.Clusters)
	return &openStackDemo{demo: d, cloud: on.Cloud, account: on.Account}
}

func (d *openStackDemo) newShoot() (*gardenlet.Shoot, error) {
	shoot := d.account.NewShoot("demo")
	d.account.OfferMachines(shoot)
	if d.plugin.overlay {
		shoot.NetworkConfig = d.plugin.config(map[string]any{"enabled": true})
	}
	var err error
	shoot.Workers, err = newPools()
	return shoot, err
}

// newPools returns the pools. Machines of the first boot from volumes, with anti-affinity.
func newPools() ([]gardencorev1beta1.Worker, error) {
	config, err := json.Marshal(&openstackv1alpha1.WorkerConfig{
		TypeMeta:    metav1.TypeMeta{APIVersion: openstackv1alpha1.GroupVersion().String(), Kind: "WorkerConfig"},
		ServerGroup: &openstackv1alpha1.ServerGroup{Policy: "soft-anti-affinity"},
	})
	small, large := openstack.NewPool(growing, 3, 3), openstack.NewPool(rolled, 1, 1)
	small.Volume = &gardencorev1beta1.Volume{VolumeSize: "25Gi"}
	small.ProviderConfig = &runtime.RawExtension{Raw: config}
	large.Machine.Type = openstack.LargeMachine
	return []gardencorev1beta1.Worker{small, large}, err
}

func (d *openStackDemo) draw() ([]string, error) { return openstack.Draw(d.cloud.Fake.State("")), nil }

func (d *openStackDemo) steps() []step { return []step{d.initializeNodes, d.changeShoot} }

func (d *openStackDemo) commands() []commands { return nil }

func (d *openStackDemo) servers(ctx context.Context) (servers []server, others []string, err error) {
	flavors, err := d.namesOf(ctx, conformance.Compute, "/v2.1/flavors", "flavors")
	if err != nil {
		return nil, nil, err
	}
	images, err := d.namesOf(ctx, conformance.Image, "/v2/images", "images")
	if err != nil {
		return nil, nil, err
	}
	state := d.cloud.Fake.State(d.account.Project)
	for _, one := range state.Servers {
		boots := images[one.ImageID]
		if len(one.Disks) > 0 {
			boots = bootVolume(state.Volumes, one.Disks[0].VolumeID)
		}
		servers = append(servers, server{
			id: one.ID, name: one.Name, zone: one.AvailabilityZone, kind: flavors[one.FlavorID], boots: boots,
			address: addressOf(state.Ports, one.ID), node: one.Name,
		})
	}
	for _, group := range state.ServerGroups {
		others = append(others, fmt.Sprintf("%-44s server group, %s, %s", group.Name, group.Policy, count(len(group.Members), "member")))
	}
	return servers, others, nil
}

func addressOf(ports []fake.Port, server string) string {
	for _, port := range ports {
		if port.DeviceID == server && len(port.FixedIPs) > 0 {
			return port.FixedIPs[0].IPAddress
		}
	}
	return "no port"
}

func bootVolume(volumes []fake.Volume, id string) string {
	for _, volume := range volumes {
		if volume.ID == id {
			return fmt.Sprintf("volume of %d GB", volume.Size)
		}
	}
	return "no volume"
}

// namesOf returns the names of resources in the cloud by their IDs.
func (d *openStackDemo) namesOf(ctx context.Context, service conformance.Service, path, kind string) (map[string]string, error) {
	response, err := d.account.DoAsMember(ctx, http.MethodGet, service, path, nil)
	if err != nil {
		return nil, err
	}
	names := map[string]string{}
	for _, object := range response.Objects(kind) {
		names[object.ID()] = object.Text("name")
	}
	return names, nil
}
