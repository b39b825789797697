package ec2

import (
	"slices"

	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/internal/core"
	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/protocol"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

type dhcpOptions struct {
	meta

	options []dhcpOption
}

type dhcpOption struct {
	key    string
	values []string
}

func (s *Service) newDHCPOptions() *collection[*dhcpOptions] {
	return &collection[*dhcpOptions]{
		kind: "dhcp-options", ids: "DhcpOptionsIds", answer: "DhcpOptions", view: s.viewDHCPOptions,
		notFound: func(id string) *wire.Error {
			return protocol.Fail("InvalidDhcpOptionID.NotFound", "The dhcpOption ID '%s' does not exist", id)
		},
		filters: map[string]func(*dhcpOptions) []string{
			"dhcp-options-id": one(func(d *dhcpOptions) string { return d.id }),
			"key": func(d *dhcpOptions) []string {
				var out []string
				for _, o := range d.options {
					out = append(out, o.key)
				}
				return out
			},
			"value": func(d *dhcpOptions) []string {
				var out []string
				for _, o := range d.options {
					out = append(out, o.values...)
				}
				return out
			},
			"owner-id": one(func(*dhcpOptions) string { return s.owner() }),
		},
	}
}

func (s *Service) viewDHCPOptions(d *dhcpOptions) protocol.Struct {
	options := []any{}
	for _, o := range d.options {
		values := []any{}
		for _, value := range o.values {
			values = append(values, protocol.Struct{"Value": value})
		}
		options = append(options, protocol.Struct{"Key": o.key, "Values": values})
	}
	return protocol.Struct{"DhcpOptionsId": d.id, "OwnerId": s.owner(), "DhcpConfigurations": options, "Tags": d.tagList()}
}

func (s *Service) dhcpActions() map[string]core.Action {
	return map[string]core.Action{
		"CreateDhcpOptions":   {Reads: "DhcpConfigurations TagSpecifications", Do: s.createDHCPOptions},
		"DescribeDhcpOptions": describing(s, s.dhcpOptions),
		"DeleteDhcpOptions":   {Reads: "DhcpOptionsId", Do: s.deleteDHCPOptions},
	}
}

// domainName is the domain of instances: that of the region, with an exception for the first region.
func (s *Service) domainName() string {
	if s.core.Config.Region == "us-east-1" {
		return "ec2.internal"
	}
	return s.core.Config.Region + ".compute.internal"
}

// addDefaultDHCPOptions adds the options that new VPCs have. Each account has them once in a region.
func (s *Service) addDefaultDHCPOptions() {
	d := &dhcpOptions{meta: s.bareMeta("dopt"), options: []dhcpOption{
		{key: "domain-name", values: []string{s.domainName()}}, {key: "domain-name-servers", values: []string{"AmazonProvidedDNS"}},
	}}
	s.dhcpOptions.add(d)
	s.defaultDHCPOptions = d.id
}

func (s *Service) createDHCPOptions(q *core.Request) (protocol.Struct, error) {
	var options []dhcpOption
	known := []string{
		"domain-name", "domain-name-servers", "ntp-servers", "netbios-name-servers", "netbios-node-type", "ipv6-address-preferred-lease-time",
	}
	for _, sent := range q.In.Structs("DhcpConfigurations") {
		if !slices.Contains(known, sent.String("Key")) || len(sent.Strings("Values")) == 0 {
			return nil, protocol.Fail("InvalidParameterValue", "Value (%s) for parameter name is invalid. Unknown DHCP option", sent.String("Key"))
		}
		options = append(options, dhcpOption{key: sent.String("Key"), values: sent.Strings("Values")})
	}
	created, err := s.newMeta("dopt", s.dhcpOptions.kind, q)
	if err != nil {
		return nil, err
	}
	d := &dhcpOptions{meta: created, options: options}
	s.dhcpOptions.add(d)
	return protocol.Struct{"DhcpOptions": s.viewDHCPOptions(d)}, nil
}

func (s *Service) deleteDHCPOptions(q *core.Request) (protocol.Struct, error) {
	d, err := s.dhcpOptions.get(q.In.String("DhcpOptionsId"))
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(s.vpcs.items, func(v *vpc) bool { return v.dhcpID == d.id }) {
		return nil, dependencyError("dhcpOptions", d.id)
	}
	s.dhcpOptions.remove(d.id)
	return nil, nil
}

// associateDHCPOptions sets the options of a VPC; "default" are those of the account.
func (s *Service) associateDHCPOptions(q *core.Request) (protocol.Struct, error) {
	v, err := s.vpcs.get(q.In.String("VpcId"))
	if err != nil {
		return nil, err
	}
	id := q.In.String("DhcpOptionsId")
	if id == "default" {
		id = s.defaultDHCPOptions
	}
	d, err := s.dhcpOptions.get(id)
	if err != nil {
		return nil, err
	}
	v.dhcpID = d.id
	return nil, nil
}
