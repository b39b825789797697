package aws

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/trellis-garden/trellis/internal/cloud/aws/fake"
	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/protocol"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

// state is all that is in an account, as AWS describes it.
type state struct {
	vpcs, dhcpOptions, gateways, tables, subnets, natGateways, addresses, groups, keyPairs, reservations []protocol.Struct
	roles                                                                                                []role
}

// role is a role with the names of its policies and instance profiles.
type role struct {
	name               string
	policies, profiles []string
}

// read reads the state of the account, bypassing the call log.
func (c *Cloud) read() (state, error) {
	var s state
	var errs []error
	for _, list := range []struct {
		action, member string
		into           *[]protocol.Struct
	}{
		{"DescribeVpcs", "Vpcs", &s.vpcs},
		{"DescribeDhcpOptions", "DhcpOptions", &s.dhcpOptions},
		{"DescribeInternetGateways", "InternetGateways", &s.gateways},
		{"DescribeRouteTables", "RouteTables", &s.tables},
		{"DescribeSubnets", "Subnets", &s.subnets},
		{"DescribeNatGateways", "NatGateways", &s.natGateways},
		{"DescribeAddresses", "Addresses", &s.addresses},
		{"DescribeSecurityGroups", "SecurityGroups", &s.groups},
		{"DescribeKeyPairs", "KeyPairs", &s.keyPairs},
		{"DescribeInstances", "Reservations", &s.reservations},
	} {
		found, err := c.call(fake.EC2, list.action, nil)
		errs = append(errs, err)
		*list.into = found.Structs(list.member)
	}
	for _, name := range c.Resources() {
		if name, isRole := strings.CutPrefix(name, "role/"); isRole {
			found, err := c.readRole(name)
			errs = append(errs, err)
			s.roles = append(s.roles, found)
		}
	}
	return s, errors.Join(errs...)
}

func (c *Cloud) readRole(name string) (role, error) {
	of := url.Values{"RoleName": {name}}
	policies, err := c.call(fake.IAM, "ListRolePolicies", of)
	profiles, errOfProfiles := c.call(fake.IAM, "ListInstanceProfilesForRole", of)
	found := role{name: name, policies: policies.Strings("PolicyNames")}
	for _, profile := range profiles.Structs("InstanceProfiles") {
		found.profiles = append(found.profiles, profile.String("InstanceProfileName"))
	}
	return found, errors.Join(err, errOfProfiles)
}

func (c *Cloud) call(service wire.Service, action string, parameters url.Values) (protocol.Struct, error) {
	answer, err := c.Do(service, action, parameters)
	if err != nil {
		return nil, fmt.Errorf("asking the fake AWS for %s: %w", action, err)
	}
	return answer, nil
}

// nameOf returns the tag Name of a resource, or else its ID.
func nameOf(resource protocol.Struct, id string) string {
	for _, tag := range resource.Structs("Tags") {
		if tag.String("Key") == "Name" {
			return tag.String("Value")
		}
	}
	return resource.String(id)
}
