package validation_test

import (
	"strings"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/apis/openstack/validation"
)

const (
	uuid      = "12345678-abcd-4321-9876-0123456789ab"
	otherUUID = "87654321-ABCD-4321-9876-0123456789AB"
)

// spec is what the sentences below change: a valid configuration and its shoot's networking.
type spec struct {
	config     *v1alpha1.InfrastructureConfig
	networks   *v1alpha1.Networks
	networking *gardencorev1beta1.Networking
}

func newSpec() spec {
	config := &v1alpha1.InfrastructureConfig{FloatingPoolName: "public"}
	config.Networks.Workers = "10.250.0.0/19"
	return spec{config: config, networks: &config.Networks, networking: &gardencorev1beta1.Networking{
		Nodes:    new("10.250.0.0/16"),
		Pods:     new("100.96.0.0/11"),
		Services: new("100.64.0.0/13"),
	}}
}

func (s spec) dualStack() {
	s.networking.IPFamilies = []gardencorev1beta1.IPFamily{gardencorev1beta1.IPFamilyIPv4, gardencorev1beta1.IPFamilyIPv6}
	s.networks.IPv6 = &v1alpha1.IPv6Config{NodeCIDR: "2001:db8:0:1::/64", PodCIDR: "2001:db8:1::/48", ServiceCIDR: "2001:db8:2::/112"}
}

func (s spec) takeRangeFromPool() {
	s.networks.Workers = ""
	s.networks.SubnetPool = &v1alpha1.SubnetPool{ID: uuid}
}

func (s spec) useSubnet() {
	s.networks.Workers = ""
	s.networks.ID = new(uuid)
	s.networks.SubnetID = new(otherUUID)
}

func (s spec) validate() field.ErrorList {
	s.config.Default()
	return validation.ValidateInfrastructureConfig(s.config, nil, s.networking, field.NewPath("config"))
}

func TestValidateInfrastructureConfig_Valid(t *testing.T) {
	for sentence, change := range map[string]func(spec){
		"a managed network, as small as it gets":                    func(spec) {},
		"a range that fills the range of the nodes":                 func(s spec) { s.networks.Workers = "10.250.0.0/16" },
		"the smallest range with room for nodes":                    func(s spec) { s.networks.Workers = "10.250.0.0/29" },
		"the deprecated name of the range":                          func(s spec) { s.networks.Workers, s.networks.Worker = "", "10.250.0.0/19" },
		"both names of the range, saying the same":                  func(s spec) { s.networks.Worker = "10.250.0.0/19" },
		"both names of the range, of which the new one counts":      func(s spec) { s.networks.Worker = "10.99.0.0/19" },
		"a shoot that lists IPv4 as its family":                     func(s spec) { s.networking.IPFamilies = []gardencorev1beta1.IPFamily{"IPv4"} },
		"a router that exists":                                      func(s spec) { s.networks.Router = &v1alpha1.Router{ID: uuid} },
		"a network that exists":                                     func(s spec) { s.networks.ID = new(uuid) },
		"a security group that exists":                              func(s spec) { s.networks.SecurityGroupID = new(uuid) },
		"a subnet that exists, in its network":                      func(s spec) { s.useSubnet() },
		"a subnet that exists, without a range for all nodes":       func(s spec) { s.useSubnet(); s.networking.Nodes = nil },
		"a subnet pool":                                             func(s spec) { s.takeRangeFromPool() },
		"a subnet pool, without a range for all nodes":              func(s spec) { s.takeRangeFromPool(); s.networking.Nodes = nil },
		"a subnet pool with a length":                               func(s spec) { s.takeRangeFromPool(); s.networks.SubnetPool.PrefixLength = new(24) },
		"a floating pool with a name of many long characters":       func(s spec) { s.config.FloatingPoolName = strings.Repeat("ü", 255) },
		"a floating pool given by its ID":                           func(s spec) { s.config.FloatingPoolName = uuid },
		"a floating pool with spaces in its name":                   func(s spec) { s.config.FloatingPoolName = "Public IPs (2)" },
		"a floating pool subnet given by its name":                  func(s spec) { s.config.FloatingPoolSubnetName = new("public-1") },
		"a floating pool subnet given by a glob":                    func(s spec) { s.config.FloatingPoolSubnetName = new("public-*") },
		"a floating pool subnet given by what it is not":            func(s spec) { s.config.FloatingPoolSubnetName = new("!~internal-\\d+") },
		"a share network":                                           func(s spec) { s.networks.ShareNetwork = &v1alpha1.ShareNetwork{Enabled: true} },
		"an MTU at its lower limit":                                 func(s spec) { s.networks.MTU = new(1280) },
		"an MTU at its upper limit":                                 func(s spec) { s.networks.MTU = new(9216) },
		"zones for network and router":                              func(s spec) { s.networks.AvailabilityZoneHints = hints("a", "a") },
		"zones for the router that is created in a given network":   func(s spec) { s.networks.ID = new(uuid); s.networks.AvailabilityZoneHints = hints("", "a") },
		"source ranges of node ports":                               func(s spec) { s.networks.NodePortSourceRanges = []string{"192.0.2.0/24", "198.51.100.7/32"} },
		"no source ranges of node ports at all":                     func(s spec) { s.networks.NodePortSourceRanges = []string{} },
		"dual stack with ranges":                                    func(s spec) { s.dualStack() },
		"dual stack with services that say less than their /112":    func(s spec) { s.dualStack(); s.networks.IPv6.ServiceCIDR = "2001:db8:2::/120" },
		"dual stack with services that say more than their /112":    func(s spec) { s.dualStack(); s.networks.IPv6.ServiceCIDR = "2001:db8:2::/64" },
		"IPv6 ranges in a shoot of IPv4, which wait":                func(s spec) { s.dualStack(); s.networking.IPFamilies = nil },
		"IPv6 ranges in a shoot that went back from dual stack":     func(s spec) { s.dualStack(); s.networking.IPFamilies = s.networking.IPFamilies[:1] },
		"dual stack with source ranges of both families":            func(s spec) { s.dualStack(); s.networks.NodePortSourceRanges = []string{"0.0.0.0/0", "2001:db8::/32"} },
		"dual stack from a pool":                                    func(s spec) { s.dualStack(); s.networks.IPv6 = &v1alpha1.IPv6Config{SubnetPoolID: new(uuid)} },
		"dual stack with ranges beside a pool, which has no effect": func(s spec) { s.dualStack(); s.networks.IPv6.SubnetPoolID = new("any") },
		"ranges of the shoot that only Gardener can validate":       func(s spec) { s.networking.Pods = new("not a range") },
		"IPv6 ranges of the shoot, which overlap nothing of IPv4":   func(s spec) { s.networking.Services = new("2001:db8::/112") },
		"a shoot whose ranges for pods and services are not set":    func(s spec) { s.networking.Pods, s.networking.Services = nil, nil },
	} {
		t.Run(sentence, func(t *testing.T) {
			s := newSpec()
			change(s)
			require.Empty(t, s.validate())
		})
	}
}

func TestValidateInfrastructureConfig_Invalid(t *testing.T) {
	for sentence, test := range map[string]struct {
		change func(spec)
		field  string
		remedy string
	}{
		"no floating pool":                     {func(s spec) { s.config.FloatingPoolName = "" }, "config.floatingPoolName", "give the name of an external network"},
		"a floating pool with brackets":        {func(s spec) { s.config.FloatingPoolName = "public[0]" }, "config.floatingPoolName", "brackets and line breaks are not allowed"},
		"a floating pool with a line break":    {func(s spec) { s.config.FloatingPoolName = "public\nprivate" }, "config.floatingPoolName", "line breaks are not allowed"},
		"a floating pool with too long a name": {func(s spec) { s.config.FloatingPoolName = strings.Repeat("x", 256) }, "config.floatingPoolName", "255"},
		"an empty floating pool subnet":        {func(s spec) { s.config.FloatingPoolSubnetName = new("") }, "config.floatingPoolSubnetName", "or remove the field"},
		"a floating pool subnet with braces":   {func(s spec) { s.config.FloatingPoolSubnetName = new("public-{1,2}") }, "config.floatingPoolSubnetName", "braces"},
		"a broken regular expression":          {func(s spec) { s.config.FloatingPoolSubnetName = new("~public-(") }, "config.floatingPoolSubnetName", "correct the regular expression"},
		"a negated broken regular expression":  {func(s spec) { s.config.FloatingPoolSubnetName = new("!~*") }, "config.floatingPoolSubnetName", "correct the regular expression"},
		"a floating pool subnet beside a router": {func(s spec) {
			s.networks.Router, s.config.FloatingPoolSubnetName = &v1alpha1.Router{ID: uuid}, new("public-1")
		}, "config.floatingPoolSubnetName", "remove one of the two"},

		"a router without ID":             {func(s spec) { s.networks.Router = &v1alpha1.Router{} }, "config.networks.router.id", "give the ID of the router"},
		"a router by name":                {func(s spec) { s.networks.Router = &v1alpha1.Router{ID: "my-router"} }, "config.networks.router.id", "not its name"},
		"a network by name":               {func(s spec) { s.networks.ID = new("my-network") }, "config.networks.id", "not its name"},
		"a network with an empty ID":      {func(s spec) { s.networks.ID = new("") }, "config.networks.id", "give the ID of the network"},
		"a network with a UUID cut short": {func(s spec) { s.networks.ID = new(uuid[:35]) }, "config.networks.id", "a UUID like"},
		"a network with a letter too far": {func(s spec) { s.networks.ID = new("g" + uuid[1:]) }, "config.networks.id", "a UUID like"},
		"a network with a UUID in braces": {func(s spec) { s.networks.ID = new("{" + uuid + "}") }, "config.networks.id", "a UUID like"},
		"a subnet by name":                {func(s spec) { s.useSubnet(); s.networks.SubnetID = new("my-subnet") }, "config.networks.subnetId", "not its name"},
		"a subnet without its network":    {func(s spec) { s.useSubnet(); s.networks.ID = nil }, "config.networks.id", "the network that the subnet"},
		"a subnet and a range":            {func(s spec) { s.useSubnet(); s.networks.Workers = "10.250.0.0/19" }, "config.networks.workers", "only one of workers, subnetId"},
		"a subnet and a pool": {func(s spec) {
			s.takeRangeFromPool()
			pool := s.networks.SubnetPool
			s.useSubnet()
			s.networks.SubnetPool = pool
		}, "config.networks.subnetPool", "only one of subnetPool, subnetId"},
		"a range and a pool":              {func(s spec) { s.networks.SubnetPool = &v1alpha1.SubnetPool{ID: uuid} }, "config.networks.workers", "only one of workers, subnetPool"},
		"no source of addresses":          {func(s spec) { s.networks.Workers = "" }, "config.networks.workers", "give the range of the node subnet"},
		"a security group by name":        {func(s spec) { s.networks.SecurityGroupID = new("my-group") }, "config.networks.securityGroupId", "not its name"},
		"a pool by name":                  {func(s spec) { s.takeRangeFromPool(); s.networks.SubnetPool.ID = "my-pool" }, "config.networks.subnetPool.id", "not its name"},
		"a pool without ID":               {func(s spec) { s.takeRangeFromPool(); s.networks.SubnetPool.ID = "" }, "config.networks.subnetPool.id", "give the ID"},
		"a pool with length 0":            {func(s spec) { s.takeRangeFromPool(); s.networks.SubnetPool.PrefixLength = new(0) }, "config.networks.subnetPool.prefixLength", "between 1 and 29"},
		"a pool with too long a prefix":   {func(s spec) { s.takeRangeFromPool(); s.networks.SubnetPool.PrefixLength = new(30) }, "config.networks.subnetPool.prefixLength", "between 1 and 29"},
		"a range that is none":            {func(s spec) { s.networks.Workers = "10.250.0.0" }, "config.networks.workers", "in CIDR notation"},
		"a range with host bits":          {func(s spec) { s.networks.Workers = "10.250.0.1/19" }, "config.networks.workers", "write 10.250.0.0/19"},
		"a range with leading zeros":      {func(s spec) { s.networks.Workers = "010.250.0.0/19" }, "config.networks.workers", "in CIDR notation"},
		"a range of IPv6":                 {func(s spec) { s.networks.Workers = "2001:db8::/64" }, "config.networks.workers", "belongs into networks.ipv6"},
		"a range of IPv4 dressed as IPv6": {func(s spec) { s.networks.Workers = "::ffff:10.250.0.0/115" }, "config.networks.workers", "in CIDR notation"},
		"a range without room":            {func(s spec) { s.networks.Workers = "10.250.0.0/30" }, "config.networks.workers", "give a /29 or larger"},
		"a range outside that of nodes":   {func(s spec) { s.networks.Workers = "10.251.0.0/19" }, "config.networks.workers", "spec.networking.nodes (10.250.0.0/16)"},
		"a range larger than that of all": {func(s spec) { s.networks.Workers = "10.0.0.0/8" }, "config.networks.workers", "must lie within spec.networking.nodes"},
		"a range over that of the pods":   {func(s spec) { s.networking.Pods = new("10.250.16.0/20") }, "config.networks.workers", "overlaps spec.networking.pods (10.250.16.0/20)"},
		"a range over that of services":   {func(s spec) { s.networking.Services = new("10.0.0.0/8") }, "config.networks.workers", "overlaps spec.networking.services (10.0.0.0/8)"},
		"a range, but none for all nodes": {func(s spec) { s.networking.Nodes = nil }, "spec.networking.nodes", "contains networks.workers (10.250.0.0/19)"},
		"a range for all nodes of IPv6":   {func(s spec) { s.networking.Nodes = new("2001:db8::/64") }, "spec.networking.nodes", "give an IPv4 range"},

		"IPv6 alone":                  {func(s spec) { s.dualStack(); s.networking.IPFamilies = s.networking.IPFamilies[1:] }, "spec.networking.ipFamilies", "use [IPv4] or [IPv4, IPv6]"},
		"dual stack without ranges":   {func(s spec) { s.dualStack(); s.networks.IPv6 = nil }, "config.networks.ipv6", "set subnetPoolID, or nodeCIDR, podCIDR and serviceCIDR"},
		"dual stack without nodes":    {func(s spec) { s.dualStack(); s.networks.IPv6.NodeCIDR = "" }, "config.networks.ipv6.nodeCIDR", "give all three"},
		"dual stack without pods":     {func(s spec) { s.dualStack(); s.networks.IPv6.PodCIDR = "" }, "config.networks.ipv6.podCIDR", "give all three"},
		"dual stack without services": {func(s spec) { s.dualStack(); s.networks.IPv6.ServiceCIDR = "" }, "config.networks.ipv6.serviceCIDR", "give all three"},
		"dual stack with pool and some ranges": {func(s spec) {
			s.dualStack()
			s.networks.IPv6.SubnetPoolID, s.networks.IPv6.PodCIDR = new(uuid), ""
		}, "config.networks.ipv6.podCIDR", "or subnetPoolID alone"},
		"dual stack with a pool by name":     {func(s spec) { s.dualStack(); *s.networks.IPv6 = v1alpha1.IPv6Config{SubnetPoolID: new("my-pool")} }, "config.networks.ipv6.subnetPoolID", "not its name"},
		"dual stack with an empty pool":      {func(s spec) { s.dualStack(); *s.networks.IPv6 = v1alpha1.IPv6Config{SubnetPoolID: new("")} }, "config.networks.ipv6.subnetPoolID", "give the ID"},
		"dual stack with IPv4 nodes":         {func(s spec) { s.dualStack(); s.networks.IPv6.NodeCIDR = "10.0.0.0/8" }, "config.networks.ipv6.nodeCIDR", "give an IPv6 range here"},
		"dual stack with nodes that aren't":  {func(s spec) { s.dualStack(); s.networks.IPv6.NodeCIDR = "2001:db8::" }, "config.networks.ipv6.nodeCIDR", "in CIDR notation"},
		"dual stack with host bits":          {func(s spec) { s.dualStack(); s.networks.IPv6.NodeCIDR = "2001:db8::1/64" }, "config.networks.ipv6.nodeCIDR", "write 2001:db8::/64"},
		"dual stack with long zeros":         {func(s spec) { s.dualStack(); s.networks.IPv6.NodeCIDR = "2001:0db8:0:0::/64" }, "config.networks.ipv6.nodeCIDR", "write 2001:db8::/64"},
		"dual stack with too large a subnet": {func(s spec) { s.dualStack(); s.networks.IPv6.NodeCIDR = "2001:db8::/63" }, "config.networks.ipv6.nodeCIDR", "too large: give a /64"},
		"dual stack with too small a subnet": {func(s spec) { s.dualStack(); s.networks.IPv6.NodeCIDR = "2001:db8::/65" }, "config.networks.ipv6.nodeCIDR", "too small: give a /64"},
		"dual stack with pods over nodes":    {func(s spec) { s.dualStack(); s.networks.IPv6.PodCIDR = "2001:db8::/48" }, "config.networks.ipv6.podCIDR", "overlaps nodeCIDR"},
		"dual stack with services over it":   {func(s spec) { s.dualStack(); s.networks.IPv6.ServiceCIDR = "2001:db8:1::/112" }, "config.networks.ipv6.serviceCIDR", "overlaps podCIDR"},
		"dual stack with too few pods":       {func(s spec) { s.dualStack(); s.networks.IPv6.PodCIDR = "2001:db8:1::/65" }, "config.networks.ipv6.podCIDR", "give a /64 or larger"},

		"an MTU below the limit":     {func(s spec) { s.networks.MTU = new(1279) }, "config.networks.mtu", "between 1280 and 9216"},
		"an MTU above the limit":     {func(s spec) { s.networks.MTU = new(9217) }, "config.networks.mtu", "between 1280 and 9216"},
		"an MTU for a given network": {func(s spec) { s.networks.MTU, s.networks.ID = new(1500), new(uuid) }, "config.networks.mtu", "remove the field"},
		"zones for a given network":  {func(s spec) { s.networks.ID, s.networks.AvailabilityZoneHints = new(uuid), hints("a", "") }, "config.networks.availabilityZoneHints.network", "remove one of the two"},
		"zones for a given router": {func(s spec) {
			s.networks.Router, s.networks.AvailabilityZoneHints = &v1alpha1.Router{ID: uuid}, hints("", "a")
		}, "config.networks.availabilityZoneHints.router", "remove one of the two"},
		"a zone without name": {func(s spec) {
			s.networks.AvailabilityZoneHints = &v1alpha1.AvailabilityZoneHints{Network: []string{"a", ""}}
		}, "config.networks.availabilityZoneHints.network[1]", "the name of an availability zone"},
		"a zone twice": {func(s spec) {
			s.networks.AvailabilityZoneHints = &v1alpha1.AvailabilityZoneHints{Router: []string{"a", "b", "a"}}
		}, "config.networks.availabilityZoneHints.router[2]", "remove one of the two"},
		"a source that is no range":   {func(s spec) { s.networks.NodePortSourceRanges = []string{"192.0.2.7"} }, "config.networks.nodePortSourceRanges[0]", "in CIDR notation"},
		"a source with host bits":     {func(s spec) { s.networks.NodePortSourceRanges = []string{"0.0.0.0/0", "192.0.2.7/24"} }, "config.networks.nodePortSourceRanges[1]", "write 192.0.2.0/24"},
		"a source twice":              {func(s spec) { s.networks.NodePortSourceRanges = []string{"192.0.2.0/24", "192.0.2.0/24"} }, "config.networks.nodePortSourceRanges[1]", "remove one of the two"},
		"an IPv6 source without IPv6": {func(s spec) { s.networks.NodePortSourceRanges = []string{"::/0"} }, "config.networks.nodePortSourceRanges[0]", "or set networks.ipv6"},
		"sources for a given group": {func(s spec) {
			s.networks.SecurityGroupID, s.networks.NodePortSourceRanges = new(uuid), []string{"192.0.2.0/24"}
		}, "config.networks.nodePortSourceRanges", "put the rules into that group yourself"},
		"no sources, for a given group": {func(s spec) { s.networks.SecurityGroupID, s.networks.NodePortSourceRanges = new(uuid), []string{} }, "config.networks.nodePortSourceRanges", "remove the field"},
	} {
		t.Run(sentence, func(t *testing.T) {
			s := newSpec()
			test.change(s)
			errs := s.validate()
			require.Len(t, errs, 1, "exactly this should be wrong")
			require.Equal(t, test.field, errs[0].Field)
			require.Contains(t, errs[0].Error(), test.remedy)
		})
	}
}

func TestValidateInfrastructureConfig_AcceptedBefore(t *testing.T) {
	for sentence, change := range map[string]func(spec){
		"a subnet pool with a length of 30":            func(s spec) { s.takeRangeFromPool(); s.networks.SubnetPool.PrefixLength = new(30) },
		"a subnet pool with a length of 32":            func(s spec) { s.takeRangeFromPool(); s.networks.SubnetPool.PrefixLength = new(32) },
		"a subnet pool by name":                        func(s spec) { s.takeRangeFromPool(); s.networks.SubnetPool.ID = "my-pool" },
		"a subnet pool by a UUID without dashes":       func(s spec) { s.takeRangeFromPool(); s.networks.SubnetPool.ID = strings.ReplaceAll(uuid, "-", "") },
		"a network by a UUID without dashes":           func(s spec) { s.networks.ID = new(strings.ReplaceAll(uuid, "-", "")) },
		"an IPv6 pool by name":                         func(s spec) { s.dualStack(); *s.networks.IPv6 = v1alpha1.IPv6Config{SubnetPoolID: new("my-pool")} },
		"an IPv6 pool beside some ranges":              func(s spec) { s.dualStack(); s.networks.IPv6.SubnetPoolID, s.networks.IPv6.PodCIDR = new(uuid), "" },
		"an IPv6 range of another length":              func(s spec) { s.dualStack(); s.networks.IPv6.NodeCIDR = "2001:db8::/63" },
		"a range for a single node":                    func(s spec) { s.networks.Workers = "10.250.0.0/30" },
		"a floating pool with an expression":           func(s spec) { s.config.FloatingPoolName = "public-[0-9]*" },
		"a floating pool subnet with an expression":    func(s spec) { s.config.FloatingPoolSubnetName = new("public-[ab]{2}.*") },
		"a floating pool subnet with a bad expression": func(s spec) { s.config.FloatingPoolSubnetName = new("~public-(") },
	} {
		t.Run(sentence, func(t *testing.T) {
			s := newSpec()
			change(s)
			s.config.Default()
			path := field.NewPath("config")
			require.NotEmpty(t, validation.ValidateInfrastructureConfig(s.config, nil, s.networking, path), "a new shoot")
			require.Empty(t, validation.ValidateInfrastructureConfig(s.config, s.config.DeepCopy(), s.networking, path), "a shoot that lives")

			changed := s.config.DeepCopy()
			changed.Networks.NodePortSourceRanges = []string{"192.0.2.7"}
			errs := validation.ValidateInfrastructureConfig(changed, s.config, s.networking, path)
			require.Len(t, errs, 1)
			require.Equal(t, "config.networks.nodePortSourceRanges[0]", errs[0].Field)
		})
	}
}

func TestValidateInfrastructureConfig_AcceptedBeforeInOtherNetworking(t *testing.T) {
	for sentence, test := range map[string]struct {
		change func(spec)
		field  string
	}{
		"the range of nodes moves away":    {func(s spec) { s.networking.Nodes = new("10.1.0.0/16") }, "config.networks.workers"},
		"IPv6 comes without ranges for it": {func(s spec) { s.dualStack(); s.networks.IPv6 = nil }, "config.networks.ipv6"},
		"IPv4 goes away":                   {func(s spec) { s.dualStack(); s.networking.IPFamilies = s.networking.IPFamilies[1:] }, "spec.networking.ipFamilies"},
	} {
		t.Run(sentence, func(t *testing.T) {
			s := newSpec()
			test.change(s)
			errs := validation.ValidateInfrastructureConfig(s.config, s.config, s.networking, field.NewPath("config"))
			require.Len(t, errs, 1)
			require.Equal(t, test.field, errs[0].Field)
		})
	}
}

func TestValidateInfrastructureConfig_AllErrors(t *testing.T) {
	s := newSpec()
	s.config.FloatingPoolName = ""
	s.networks.Workers = "10.251.0.0/30"
	s.networks.Router = &v1alpha1.Router{ID: "my-router"}
	s.networks.MTU = new(1)

	var fields []string
	for _, err := range s.validate() {
		fields = append(fields, err.Field)
	}
	require.Equal(t, []string{
		"config.floatingPoolName", "config.networks.router.id",
		"config.networks.workers", "config.networks.mtu", "config.networks.workers",
	}, fields)
}

func TestValidateInfrastructureConfig_NetworkingRequired(t *testing.T) {
	s := newSpec()
	s.networking = nil
	errs := s.validate()
	require.NotEmpty(t, errs)
	require.Equal(t, "spec.networking", errs[0].Field)
}

func hints(network, router string) *v1alpha1.AvailabilityZoneHints {
	hints := &v1alpha1.AvailabilityZoneHints{}
	if network != "" {
		hints.Network = []string{network}
	}
	if router != "" {
		hints.Router = []string{router}
	}
	return hints
}
