package validation_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/apis/openstack/validation"
)

func TestValidateInfrastructureConfigUpdate_Valid(t *testing.T) {
	for sentence, test := range map[string]struct{ before, after func(spec) }{
		"no change at all":                             {unchangedSpec, unchangedSpec},
		"the new name for the range of the nodes":      {func(s spec) { s.networks.Worker, s.networks.Workers = s.networks.Workers, "" }, unchangedSpec},
		"the deprecated name for the range, once more": {unchangedSpec, func(s spec) { s.networks.Worker, s.networks.Workers = s.networks.Workers, "" }},
		"a share network, from nothing":                {unchangedSpec, shareNetwork(true)},
		"a share network, from an explicit no":         {shareNetwork(false), shareNetwork(true)},
		"an explicit no where there was nothing":       {unchangedSpec, shareNetwork(false)},
		"nothing where there was an explicit no":       {shareNetwork(false), unchangedSpec},
		"dual stack, added to an IPv4 shoot":           {unchangedSpec, spec.dualStack},
		"an MTU where there was none":                  {unchangedSpec, func(s spec) { s.networks.MTU = new(1450) }},
		"another MTU":                                  {func(s spec) { s.networks.MTU = new(1500) }, func(s spec) { s.networks.MTU = new(1450) }},
		"source ranges of node ports":                  {unchangedSpec, func(s spec) { s.networks.NodePortSourceRanges = []string{"192.0.2.0/24"} }},
		"the default of the source ranges, spelt out":  {unchangedSpec, func(s spec) { s.networks.NodePortSourceRanges = []string{"0.0.0.0/0"} }},
		"a contradiction under the deprecated name":    {unchangedSpec, func(s spec) { s.networks.Worker = "10.250.32.0/19" }},
		"an empty list of zones where there was none": {
			func(s spec) { s.networks.AvailabilityZoneHints = hints("", "a") },
			func(s spec) {
				s.networks.AvailabilityZoneHints = hints("", "a")
				s.networks.AvailabilityZoneHints.Network = []string{}
			},
		},
		"zone hints that hint at nothing": {unchangedSpec, func(s spec) { s.networks.AvailabilityZoneHints = hints("", "") }},
	} {
		t.Run(sentence, func(t *testing.T) {
			require.Empty(t, update(test.before, test.after))
		})
	}
}

func TestValidateInfrastructureConfigUpdate_Invalid(t *testing.T) {
	router := func(id string) func(spec) { return func(s spec) { s.networks.Router = &v1alpha1.Router{ID: id} } }
	for sentence, test := range map[string]struct {
		before, after func(spec)
		field, remedy string
	}{
		"another floating pool": {
			unchangedSpec, func(s spec) { s.config.FloatingPoolName = "private" },
			"config.floatingPoolName", `set it back to "public"`,
		},
		"a floating pool subnet where there was none": {
			unchangedSpec, func(s spec) { s.config.FloatingPoolSubnetName = new("public-1") },
			"config.floatingPoolSubnetName", "remove the field",
		},
		"another floating pool subnet": {
			func(s spec) { s.config.FloatingPoolSubnetName = new("public-1") },
			func(s spec) { s.config.FloatingPoolSubnetName = new("public-2") },
			"config.floatingPoolSubnetName", `set it back to "public-1"`,
		},
		"another range of the nodes": {
			unchangedSpec, func(s spec) { s.networks.Workers = "10.250.32.0/19" },
			"config.networks.workers", `set it back to "10.250.0.0/19"`,
		},
		"another range under the deprecated name": {
			unchangedSpec, func(s spec) { s.networks.Worker, s.networks.Workers = "10.250.32.0/19", "" },
			"config.networks.workers", `set it back to "10.250.0.0/19"`,
		},
		"a router where one was created":   {unchangedSpec, router(uuid), "config.networks.router", "remove the field"},
		"no router where one was given":    {router(uuid), unchangedSpec, "config.networks.router", `set it back to {"id":"` + uuid + `"}`},
		"another router":                   {router(uuid), router(otherUUID), "config.networks.router", uuid},
		"a network where one was created":  {unchangedSpec, func(s spec) { s.networks.ID = new(uuid) }, "config.networks.id", "or create a new shoot"},
		"a security group, given later":    {unchangedSpec, func(s spec) { s.networks.SecurityGroupID = new(uuid) }, "config.networks.securityGroupId", "remove the field"},
		"another length of a pool's range": {spec.takeRangeFromPool, func(s spec) { s.takeRangeFromPool(); s.networks.SubnetPool.PrefixLength = new(24) }, "config.networks.subnetPool", "or create a new shoot"},
		"another subnet":                   {spec.useSubnet, func(s spec) { s.useSubnet(); s.networks.SubnetID = new(uuid) }, "config.networks.subnetId", otherUUID},
		"no dual stack any more":           {spec.dualStack, unchangedSpec, "config.networks.ipv6", "set it back to"},
		"another zone":                     {unchangedSpec, func(s spec) { s.networks.AvailabilityZoneHints = hints("a", "") }, "config.networks.availabilityZoneHints", "remove the field"},
		"no share network any more":        {shareNetwork(true), shareNetwork(false), "config.networks.shareNetwork.enabled", "set it back to true"},
		"no word of the share network":     {shareNetwork(true), unchangedSpec, "config.networks.shareNetwork.enabled", "set it back to true"},
	} {
		t.Run(sentence, func(t *testing.T) {
			errs := update(test.before, test.after)
			require.Len(t, errs, 1, "exactly this should be wrong")
			require.Equal(t, test.field, errs[0].Field)
			require.Contains(t, errs[0].Error(), test.remedy)
		})
	}
}

func unchangedSpec(spec) {}

func shareNetwork(enabled bool) func(spec) {
	return func(s spec) { s.networks.ShareNetwork = &v1alpha1.ShareNetwork{Enabled: enabled} }
}

func update(before, after func(spec)) field.ErrorList {
	oldSpec, newSpec := newSpec(), newSpec()
	before(oldSpec)
	after(newSpec)
	oldSpec.config.Default()
	newSpec.config.Default()
	return validation.ValidateInfrastructureConfigUpdate(oldSpec.config, newSpec.config, field.NewPath("config"))
}
