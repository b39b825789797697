package openstack

import (
	"slices"

	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
)

// plan are the wanted resources, computed from object, shoot and cloud profile. It does not depend on the cloud and is not changed. A givenID is that of a
// user's resource; it is empty for what is created.
type plan struct {
	technicalID string
	mark        string
	uid         string
	// clusterNames are the possible names of the cluster in the shoot's cloud-controller-manager.
	clusterNames []string

	floating     floatingNetworkSpec
	network      networkSpec
	subnets      []subnetSpec // the IPv4 node subnet first
	router       routerSpec
	group        securityGroupSpec
	keyPair      keyPairSpec
	shareNetwork bool

	// pods, nodes and services are the shoot's IPv4 ranges.
	pods, nodes, services string
}

// floatingNetworkSpec selects the external network and its subnet for the router's address.
type floatingNetworkSpec struct {
	pool        string // name, pattern or ID
	subnet      string // pattern; empty leaves the choice to the cloud
	subnetField string // which field says so
}

type networkSpec struct {
	givenID string
	name    string
	mtu     int // 0 leaves the choice to the cloud
	azHints []string
}

type subnetSpec struct {
	kind    kind
	purpose openstackv1alpha1.Purpose
	givenID string
	name    string
	version int // 4 or 6
	// cidr, or poolID with prefixLength, determines the range.
	cidr         string
	poolID       string
	prefixLength int
	// cidrField and poolField are the user's fields.
	cidrField, poolField string
	dnsServers           []string
	// ipv6Mode is the address and router advertisement mode; empty for IPv4 and for subnets that only reserve a range.
	ipv6Mode string
	// attached subnets have an interface of the router.
	attached bool
}

type routerSpec struct {
	givenID string
	name    string
	snat    *bool // nil leaves the choice to the cloud
	azHints []string
}

type securityGroupSpec struct {
	givenID string
	name    string
	// families are the IP versions in use.
	families []int
	// nodePortSources are the ranges from which node ports can be reached.
	nodePortSources []string
	// podRanges are permitted: packets of pods are not encapsulated, so they arrive with the pods' addresses.
	podRanges []string
	// routesPods also permits the IPv6 range of pods, which is known once its subnet exists.
	routesPods bool
}

type keyPairSpec struct {
	name      string
	publicKey string // empty: no key pair
}

// dualStack reports whether the shoot has IPv6 besides IPv4.
func (p *plan) dualStack() bool { return len(p.subnets) > 1 }

// subnet returns the spec of a kind.
func (p *plan) subnet(k kind) (subnetSpec, bool) {
	i := slices.IndexFunc(p.subnets, func(s subnetSpec) bool { return s.kind == k })
	if i < 0 {
		return subnetSpec{}, false
	}
	return p.subnets[i], true
}

// isGiven reports whether the ID is a user's resource, which is never deleted, whatever the recorded state contains.
func (p *plan) isGiven(id string) bool {
	ids := []string{p.network.givenID, p.router.givenID, p.group.givenID}
	for _, subnet := range p.subnets {
		ids = append(ids, subnet.givenID)
	}
	return id != "" && slices.Contains(ids, id)
}
