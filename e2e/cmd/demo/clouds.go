package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/trellis-garden/trellis/e2e/internal/aws"
	"github.com/trellis-garden/trellis/e2e/internal/cloud"
	"github.com/trellis-garden/trellis/e2e/internal/nodes"
	"github.com/trellis-garden/trellis/e2e/internal/openstack"
)

// cloudEntry is a cloud of the demo.
type cloudEntry struct {
	// name is the provider type.
	name, heading string
	// start returns a function that starts the cloud; each of its calls takes as long as latency.
	start    func(latency time.Duration) func() (cloud.Cloud, error)
	machines machineEntry
	// nodes are options of the simulation of Nodes.
	nodes []nodes.Option
	// attach returns what the cloud adds to the demo.
	attach func(*demo) cloudDemo
}

// machineEntry is about a cloud's machines.
type machineEntry struct {
	latestImage string
	// what describes resources for machines, and prefixes are those of their names in Account.ResourceNames.
	what     string
	prefixes []string
}

// clouds lists the clouds of the demo, the default first.
func clouds() []cloudEntry {
	return []cloudEntry{
		{
			name: openstack.Type, heading: "Trellis: one shoot's Infrastructure, ControlPlane, Network and Worker, live",
			start: openstack.Fake,
			machines: machineEntry{
				latestImage: openstack.LatestImage, what: "server, port, volume or server group",
				prefixes: []string{"server ", "port ", "volume ", "server group "},
			},
			nodes:  []nodes.Option{nodes.WithCloudControllerManager()},
			attach: newOpenStackDemo,
		},
		{
			name: aws.Type, heading: "Trellis: one shoot's Infrastructure, ControlPlane, Network and Worker in three zones of AWS, live",
			start: aws.Fake,
			machines: machineEntry{
				latestImage: aws.LatestImage, what: "instance, network interface or volume", prefixes: []string{"i-", "eni-", "vol-"},
			},
			attach: newAWSDemo,
		},
	}
}

// cloudNamed returns the cloud of a name; the default without one.
func cloudNamed(name string) (cloudEntry, error) {
	all := clouds()
	if name == "" {
		return all[0], nil
	}
	var names []string
	for _, entry := range all {
		if entry.name == name {
			return entry, nil
		}
		names = append(names, entry.name)
	}
	slices.Sort(names)
	return cloudEntry{}, fmt.Errorf("CLOUD or --cloud: there is no demo of %q; the clouds are %s", name, strings.Join(names, " and "))
}
