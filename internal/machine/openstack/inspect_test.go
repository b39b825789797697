package openstack

import (
	"fmt"
	"slices"

	"github.com/trellis-garden/trellis/apis/openstack/machine/v1alpha1"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake"
)

// inspect counts resources that did not exist before.
func (t *caseRun) inspect(machines int) {
	now := t.cloud.State(fake.DefaultProject)
	expect := func(kind string, have, want int) {
		if have != want {
			t.problems = append(t.problems, fmt.Sprintf("%d %s instead of %d", have, kind, want))
		}
	}
	spec := t.testCloud.spec()
	ports, volumes := 1, 0
	if t.hasAllFeatures() {
		ports, volumes = 2, 3
	}
	expect("servers", len(now.Servers)-len(t.before.Servers), machines)
	expect("ports", len(now.Ports)-len(t.before.Ports), machines*ports)
	expect("volumes", len(now.Volumes)-len(t.before.Volumes), machines*volumes)
	bound := 0
	for _, server := range now.Servers {
		if server.Status != "ACTIVE" {
			t.problems = append(t.problems, "a server is "+server.Status)
		}
		for _, port := range now.Ports {
			if port.DeviceID == server.ID && len(port.SecurityGroups) == len(spec.SecurityGroups) {
				bound++
			}
		}
	}
	expect("ports of servers", bound, machines*ports)
	_, deleted := fake.Diff(t.before, now)
	t.problems = append(t.problems, slices.Clone(deleted)...)
}

// hasAllFeatures reports whether the machine has all features of machines.
func (t *caseRun) hasAllFeatures() bool {
	config, err := v1alpha1.DecodeMachineProviderConfig(&t.testMachine.class.ProviderSpec)
	return err == nil && len(config.Spec.Networks) > 0
}
