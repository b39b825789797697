package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/trellis-garden/trellis/e2e/internal/aws"
	"github.com/trellis-garden/trellis/e2e/internal/landscape"
	"github.com/trellis-garden/trellis/e2e/internal/openstack"
)

// cloudEntry is a cloud of the demo.
type cloudEntry struct {
	name, heading string
	// options say what is started; each call of the cloud takes as long as latency.
	options func(latency time.Duration) landscape.Options
	// attach returns what the cloud adds to the demo.
	attach func(*demo) cloudDemo
}

// clouds lists the clouds of the demo, the default first.
func clouds() []cloudEntry {
	return []cloudEntry{
		{
			name: openstack.Type, heading: "Trellis: one shoot's Infrastructure, ControlPlane, Network and Worker, live",
			options: func(latency time.Duration) landscape.Options {
				return landscape.Options{Cloud: openstack.Fake(latency), Clusters: true, Machines: true, InSteps: true}
			},
			attach: newOpenStackDemo,
		},
		{
			name: aws.Type, heading: "Trellis: one shoot's Infrastructure in three zones of AWS, live",
			options: func(latency time.Duration) landscape.Options {
				return landscape.Options{Cloud: aws.Fake(latency)}
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
