package stack

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake"
)

// apiPollInterval is the interval of requests that wait for a state.
const apiPollInterval = 500 * time.Millisecond

// Zones are the availability zones of compute. Each has one hypervisor.
func Zones() []string { return []string{"zone-a", "zone-b", "zone-c"} }

type flavor struct {
	name           string
	cpus, ram, gib int // ram in MiB
}

func flavors() []flavor {
	return []flavor{
		{"m1.tiny", 1, 512, 1},
		{"m1.small", 1, 2048, 20},
		{"m1.medium", 2, 4096, 40},
		{"m1.large", 4, 8192, 80},
		{"m1.diskless", 2, 4096, 0},
	}
}

type image struct{ name, architecture string }

func images() []image {
	return []image{{"tiny", "x86_64"}, {"gardenlinux", "x86_64"}, {"gardenlinux-arm64", "aarch64"}}
}

type subnet struct{ name, cidr, gateway string }

// externalSubnets are in the range for benchmarks (RFC 2544).
func externalSubnets() []subnet {
	return []subnet{
		{fake.ExternalSubnetA, "198.18.0.0/17", "198.18.0.1"},
		{fake.ExternalSubnetB, "198.18.128.0/17", "198.18.128.1"},
	}
}

func fillNeutron(ctx context.Context, c *client) error {
	v2 := urlOf("neutron") + "/v2.0"
	network, err := c.ensure(ctx, collection{v2 + "/networks", "network", "networks"}, object{"name": fake.ExternalNetwork},
		object{"router:external": true, "provider:network_type": "flat", "provider:physical_network": "external"})
	if err != nil {
		return fmt.Errorf("making the external network: %w", err)
	}
	for _, s := range externalSubnets() {
		_, err := c.ensure(ctx, collection{v2 + "/subnets", "subnet", "subnets"}, object{"name": s.name, "network_id": network["id"]},
			object{"ip_version": 4, "cidr": s.cidr, "gateway_ip": s.gateway, "enable_dhcp": false})
		if err != nil {
			return fmt.Errorf("making the external subnet %s: %w", s.name, err)
		}
	}
	return nil
}

func fillGlance(ctx context.Context, c *client) error {
	for _, i := range images() {
		if err := c.ensureImage(ctx, i); err != nil {
			return err
		}
	}
	return nil
}

func (c *client) ensureImage(ctx context.Context, i image) error {
	v2 := urlOf("glance") + "/v2/images"
	made, err := c.ensure(ctx, collection{v2, "", "images"}, object{"name": i.name}, object{
		"architecture": i.architecture, "visibility": "public", "disk_format": "qcow2", "container_format": "bare", "min_disk": 1,
	})
	if err == nil && text(made, "status") == "queued" {
		_, err = c.call(ctx, http.MethodPut, v2+"/"+text(made, "id")+"/file", emptyDisk(), nil)
	}
	if err != nil {
		return fmt.Errorf("making the image %s: %w", i.name, err)
	}
	return nil
}

// emptyDisk is the header of a QCOW2 file for 1 GiB (QEMU, "Qcow2 Image File Format", version 2), padded to 64 KiB.
func emptyDisk() []byte {
	const size, clusterBits = 1 << 30, 16
	disk := make([]byte, 1<<16)
	copy(disk, "QFI\xfb")
	binary.BigEndian.PutUint32(disk[4:], 2)
	binary.BigEndian.PutUint32(disk[20:], clusterBits)
	binary.BigEndian.PutUint64(disk[24:], size)
	return disk
}

// fillNova creates flavors, and zones once the hypervisors are registered.
func fillNova(ctx context.Context, c *client) error {
	v21 := urlOf("nova-api") + "/v2.1"
	for _, f := range flavors() {
		_, err := c.ensure(ctx, collection{v21 + "/flavors", "flavor", "flavors"}, object{"name": f.name},
			object{"vcpus": f.cpus, "ram": f.ram, "disk": f.gib})
		if err != nil {
			return fmt.Errorf("making the flavor %s: %w", f.name, err)
		}
	}
	if err := waitForHypervisors(ctx, c); err != nil {
		return fmt.Errorf("waiting for the hypervisors: %w", err)
	}
	for _, zone := range Zones() {
		if err := ensureZone(ctx, c, v21, zone); err != nil {
			return fmt.Errorf("making the availability zone %s: %w", zone, err)
		}
	}
	return nil
}

// waitForHypervisors waits until Placement has all of them: a host that is added to a zone before is never found there.
func waitForHypervisors(ctx context.Context, c *client) error {
	for {
		providers, err := c.list(ctx, urlOf("placement")+"/resource_providers", "resource_providers")
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(Zones(), func(zone string) bool { return find(providers, object{"name": hostOf(zone)}) == nil }) {
			return nil
		}
		if err := pause(ctx, apiPollInterval); err != nil {
			return err
		}
	}
}

func ensureZone(ctx context.Context, c *client, v21, zone string) error {
	aggregate, err := c.ensure(ctx, collection{v21 + "/os-aggregates", "aggregate", "aggregates"},
		object{"name": zone}, object{"availability_zone": zone})
	if err != nil {
		return err
	}
	if hosts, _ := aggregate["hosts"].([]any); slices.Contains(hosts, any(hostOf(zone))) {
		return nil
	}
	for {
		where := fmt.Sprintf("%s/os-aggregates/%v/action", v21, aggregate["id"])
		_, err := c.call(ctx, http.MethodPost, where, object{"add_host": object{"host": hostOf(zone)}}, nil)
		// The scheduler discovers new hosts periodically.
		if no := (*refusal)(nil); !errors.As(err, &no) || no.status != http.StatusNotFound {
			return err
		}
		if err := pause(ctx, apiPollInterval); err != nil {
			return err
		}
	}
}
