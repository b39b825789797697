package aws

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/trellis-garden/trellis/internal/cloud"
	cloudaws "github.com/trellis-garden/trellis/internal/cloud/aws"
	"github.com/trellis-garden/trellis/internal/contract"
)

// observation has the existing resources at the start of a reconciliation. Nil means not found, or not looked for.
type observation struct {
	vpc                      *cloudaws.VPC
	dnsSupport, dnsHostnames bool
	dhcpOptions              *cloudaws.DHCPOptions
	gateway                  *cloudaws.InternetGateway
	egressOnlyGateway        *cloudaws.EgressOnlyGateway
	subnets                  []cloudaws.Subnet
	tables                   []cloudaws.RouteTable
	natGateways              []cloudaws.NATGateway
	addresses                []cloudaws.Address
	defaultGroup, nodesGroup *cloudaws.SecurityGroup
	endpoints                []cloudaws.Endpoint
	fileSystem               *cloudaws.FileSystem
	mountTargets             []cloudaws.MountTarget
	keyPair                  *cloudaws.KeyPair
	profile                  *cloudaws.InstanceProfile
	role                     *cloudaws.Role
	policy                   string
}

// observe reads all resources that may exist in one wave of parallel requests, whose number does not depend on the number of zones. Only a VPC that is neither
// given nor recorded is looked for before. If no creation was ever attempted, only what is given is read.
func (rec *reconciliation) observe(ctx context.Context) error {
	vpcID := cmp.Or(rec.plan.vpc.givenID, rec.state.ID(kindVPC))
	if vpcID == "" && !rec.nothingExists {
		found, err := rec.cloud.ListVPCs(ctx, cloudaws.Filter{TagKeys: []string{rec.plan.clusterTag()}})
		if err != nil {
			return fmt.Errorf("looking for the VPC: %w", err)
		}
		if rec.observed.vpc = pick(rec, "VPC", kindVPC, rec.plan.technicalID, found); rec.observed.vpc != nil {
			vpcID = rec.observed.vpc.ID
		}
	}
	var reads []func() error
	if vpcID != "" {
		reads = rec.readsOfVPC(ctx, vpcID)
	}
	if !rec.nothingExists {
		reads = append(reads, rec.readsOfAccount(ctx)...)
	}
	reads = append(reads, func() error { return rec.observeAddresses(ctx) })
	if rec.plan.fileSystem.enabled {
		reads = append(reads, func() error { return rec.observeFileSystem(ctx) })
	}
	return contract.InParallel(reads...)
}

// readsOfVPC are the requests for what is in a VPC.
func (rec *reconciliation) readsOfVPC(ctx context.Context, vpcID string) []func() error {
	in := cloudaws.Filter{VPCID: vpcID}
	observed := &rec.observed
	reads := []func() error{
		func() error { return rec.observeVPC(ctx, vpcID) },
		func() (err error) {
			observed.dnsSupport, err = rec.cloud.GetVPCAttribute(ctx, vpcID, cloudaws.DNSSupport)
			return ignoreMissing(err, "reading whether the VPC has DNS support")
		},
		func() (err error) {
			observed.dnsHostnames, err = rec.cloud.GetVPCAttribute(ctx, vpcID, cloudaws.DNSHostnames)
			return ignoreMissing(err, "reading whether the VPC has DNS hostnames")
		},
		func() error { return rec.observeGateway(ctx, in) },
		func() (err error) {
			observed.subnets, err = rec.cloud.ListSubnets(ctx, in)
			return wrap(err, "reading subnets")
		},
		func() (err error) {
			observed.tables, err = rec.cloud.ListRouteTables(ctx, in)
			return wrap(err, "reading route tables")
		},
		func() (err error) {
			observed.natGateways, err = rec.cloud.ListNATGateways(ctx, in)
			return wrap(err, "reading NAT gateways")
		},
		func() error { return rec.observeGroups(ctx, in) },
	}
	if rec.plan.ipv6 {
		reads = append(reads, func() error {
			found, err := rec.cloud.ListEgressOnlyGateways(ctx, in)
			if len(found) > 0 { // a VPC has one at most
				observed.egressOnlyGateway = &found[0]
			}
			return wrap(err, "reading the egress-only internet gateway")
		})
	}
	if len(rec.plan.endpoints)+len(rec.recordedEndpoints()) > 0 {
		reads = append(reads, func() (err error) {
			observed.endpoints, err = rec.cloud.ListEndpoints(ctx, in)
			return wrap(err, "reading gateway endpoints")
		})
	}
	return reads
}

// readsOfAccount are the requests for what is in no VPC.
func (rec *reconciliation) readsOfAccount(ctx context.Context) []func() error {
	reads := []func() error{
		func() error { return rec.observeKeyPair(ctx) },
		func() error { return rec.observeProfile(ctx) },
		func() (err error) {
			rec.observed.policy, err = rec.cloud.GetRolePolicy(ctx, rec.plan.nodesName(), rec.plan.nodesName())
			return ignoreMissing(err, "reading the policy of the role")
		},
	}
	if rec.plan.vpc.givenID == "" {
		reads = append(reads, func() error { return rec.observeDHCPOptions(ctx) })
	}
	return reads
}

func (rec *reconciliation) observeVPC(ctx context.Context, id string) error {
	if rec.observed.vpc != nil {
		return nil
	}
	found, err := rec.cloud.ListVPCs(ctx, cloudaws.Filter{IDs: []string{id}})
	if err != nil {
		return fmt.Errorf("reading the VPC: %w", err)
	}
	switch {
	case len(found) > 0:
		rec.observed.vpc = &found[0]
	case rec.plan.vpc.givenID != "":
		return cloud.Errorf(cloud.Configuration, "networks.vpc.id: there is no VPC %s in region %s", id, rec.plan.region)
	}
	return nil
}

func (rec *reconciliation) observeGateway(ctx context.Context, in cloudaws.Filter) error {
	found, err := rec.cloud.ListInternetGateways(ctx, in)
	if err != nil {
		return fmt.Errorf("reading the internet gateway: %w", err)
	}
	if len(found) > 0 { // a VPC has one at most
		rec.observed.gateway = &found[0]
		return nil
	}
	if rec.plan.vpc.givenID != "" || rec.nothingExists {
		return nil
	}
	// It may have been created and not attached.
	found, err = rec.cloud.ListInternetGateways(ctx, cloudaws.Filter{TagKeys: []string{rec.plan.clusterTag()}})
	if err != nil {
		return fmt.Errorf("looking for the internet gateway: %w", err)
	}
	rec.observed.gateway = pick(rec, "internet gateway", kindInternetGateway, rec.plan.technicalID, found)
	return nil
}

// observeGroups finds the group that AWS made with the VPC, and that of the nodes.
func (rec *reconciliation) observeGroups(ctx context.Context, in cloudaws.Filter) error {
	found, err := rec.cloud.ListSecurityGroups(ctx, in)
	if err != nil {
		return fmt.Errorf("reading security groups: %w", err)
	}
	for i := range found {
		group := &found[i]
		switch {
		case group.Name == "default":
			rec.observed.defaultGroup = group
		case group.ID == rec.plan.nodesGroupID, rec.plan.nodesGroupID == "" && group.Name == rec.plan.nodesName():
			rec.observed.nodesGroup = group
		}
	}
	switch group := rec.observed.nodesGroup; {
	case rec.plan.nodesGroupID != "" && group == nil:
		return cloud.Errorf(cloud.Configuration, "networks.nodesSecurityGroupID: there is no security group %s in VPC %s", rec.plan.nodesGroupID, in.VPCID)
	case rec.plan.nodesGroupID == "" && group != nil && !rec.plan.owns(group.Tags) && rec.state.ID(kindNodesGroup) != group.ID:
		return cloud.Errorf(cloud.Configuration, "the security group %s of VPC %s has the name %s, but is not the shoot's: rename or delete it",
			group.ID, in.VPCID, group.Name)
	}
	return nil
}

func (rec *reconciliation) observeDHCPOptions(ctx context.Context) error {
	filter := cloudaws.Filter{TagKeys: []string{rec.plan.clusterTag()}}
	if id := rec.state.ID(kindDHCPOptions); id != "" {
		filter = cloudaws.Filter{IDs: []string{id}}
	}
	found, err := rec.cloud.ListDHCPOptions(ctx, filter)
	if err != nil {
		return fmt.Errorf("reading DHCP options: %w", err)
	}
	rec.observed.dhcpOptions = pick(rec, "DHCP options", kindDHCPOptions, rec.plan.technicalID, found)
	return nil
}

// observeAddresses reads the elastic IPs of the shoot, and those that the user gave.
func (rec *reconciliation) observeAddresses(ctx context.Context) error {
	var given []string
	for _, zone := range rec.plan.zones {
		if zone.addressID != "" {
			given = append(given, zone.addressID)
		}
	}
	reads := []func() error{}
	var own, others []cloudaws.Address
	if !rec.nothingExists {
		reads = append(reads, func() (err error) {
			own, err = rec.ownAddresses(ctx)
			return wrap(err, "reading elastic IPs")
		})
	}
	if len(given) > 0 {
		reads = append(reads, func() (err error) {
			others, err = rec.cloud.ListAddresses(ctx, cloudaws.Filter{IDs: given})
			return wrap(err, "reading the given elastic IPs")
		})
	}
	if err := contract.InParallel(reads...); err != nil {
		return err
	}
	for _, zone := range rec.plan.zones {
		known := func(a cloudaws.Address) bool { return a.AllocationID == zone.addressID }
		if zone.addressID != "" && !slices.ContainsFunc(others, known) {
			return cloud.Errorf(cloud.Configuration, "networks.zones: zone %s: there is no elastic IP %s in region %s", zone.name, zone.addressID, rec.plan.region)
		}
	}
	rec.observed.addresses = slices.Concat(own, others)
	return nil
}

// ownAddresses returns the elastic IPs with the tag of the shoot, and recorded ones that have lost it, or do not have it yet.
func (rec *reconciliation) ownAddresses(ctx context.Context) ([]cloudaws.Address, error) {
	own, err := rec.cloud.ListAddresses(ctx, cloudaws.Filter{TagKeys: []string{rec.plan.clusterTag()}})
	if err != nil {
		return nil, err
	}
	var missing []string
	for _, zone := range rec.plan.zones {
		if id := rec.state.ID(addressKind(zone)); id != "" && !contains(own, id) {
			missing = append(missing, id)
		}
	}
	if len(missing) == 0 {
		return own, nil
	}
	more, err := rec.cloud.ListAddresses(ctx, cloudaws.Filter{IDs: missing})
	return slices.Concat(own, more), err
}

func (rec *reconciliation) observeKeyPair(ctx context.Context) error {
	found, err := rec.cloud.ListKeyPairs(ctx, cloudaws.Filter{Name: rec.plan.keyPairName()})
	if err != nil {
		return fmt.Errorf("reading the key pair: %w", err)
	}
	if len(found) > 0 {
		rec.observed.keyPair = &found[0]
	}
	return nil
}

// observeProfile reads the instance profile, which contains its role. A role that is in no profile is read on its own.
func (rec *reconciliation) observeProfile(ctx context.Context) error {
	profile, err := rec.cloud.GetInstanceProfile(ctx, rec.plan.nodesName())
	if ignoreMissing(err, "") != nil {
		return fmt.Errorf("reading the instance profile: %w", err)
	}
	if err == nil {
		rec.observed.profile = &profile
		if len(profile.Roles) > 0 {
			rec.observed.role = &profile.Roles[0]
			return nil
		}
	}
	role, err := rec.cloud.GetRole(ctx, rec.plan.nodesName())
	if err == nil {
		rec.observed.role = &role
	}
	return ignoreMissing(err, "reading the role")
}

// pick returns the shoot's resource of a kind: the recorded one, or else the one with the shoot's tags. Of several that nobody recorded, the one that was
// created first cannot be known; the one with the first ID is used, always the same, and the others are reported.
func pick[R cloudaws.Resource](rec *reconciliation, what string, k kind, name string, found []R) *R {
	recorded := rec.state.ID(k)
	if i := slices.IndexFunc(found, func(one R) bool { return idOf(one) == recorded }); recorded != "" && i >= 0 {
		return &found[i]
	}
	var first *R
	var others []string
	for i := range found {
		if _, tags := found[i].Identity(); !rec.plan.owns(tags) || tags[tagName] != name {
			continue
		}
		switch {
		case first == nil:
			first = &found[i]
		case idOf(found[i]) < idOf(*first):
			others = append(others, idOf(*first))
			first = &found[i]
		default:
			others = append(others, idOf(found[i]))
		}
	}
	for _, other := range others {
		rec.addFindings(fmt.Sprintf("%s %s has the tags of this shoot, but %s is in use; it is removed with the shoot, or by hand before", what, other, idOf(*first)))
	}
	return first
}

func idOf(resource cloudaws.Resource) string {
	id, _ := resource.Identity()
	return id
}

// ignoreMissing returns nil for an error that says that something does not exist.
func ignoreMissing(err error, action string) error {
	if err == nil || cloud.IsNotFound(err) {
		return nil
	}
	return fmt.Errorf("%s: %w", action, err)
}

func wrap(err error, action string) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", action, err)
}
