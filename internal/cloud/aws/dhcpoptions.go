package aws

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

// The keys of DHCP options that shoots need.
const (
	DomainName        = "domain-name"
	DomainNameServers = "domain-name-servers"
	// AmazonDNS stands for the name server of the VPC.
	AmazonDNS = "AmazonProvidedDNS"
)

// DHCPOptions are what nodes learn by DHCP.
type DHCPOptions struct {
	ID string
	// Options are lists of values by key, e.g. "domain-name".
	Options map[string][]string
	Tags    Tags
}

func dhcpOptionsOf(d *types.DhcpOptions) DHCPOptions {
	options := DHCPOptions{ID: aws.ToString(d.DhcpOptionsId), Options: map[string][]string{}, Tags: tagsOf(d.Tags)}
	for _, one := range d.DhcpConfigurations {
		for _, value := range one.Values {
			options.Options[aws.ToString(one.Key)] = append(options.Options[aws.ToString(one.Key)], aws.ToString(value.Value))
		}
	}
	return options
}

// ListDHCPOptions returns the DHCP options that match the filter.
func (s *Session) ListDHCPOptions(ctx context.Context, filter Filter) ([]DHCPOptions, error) {
	return listAll(ctx, s, ec2Read("DescribeDhcpOptions"), s.ec2.DescribeDhcpOptions, func(token *string) *ec2.DescribeDhcpOptionsInput {
		return &ec2.DescribeDhcpOptionsInput{
			Filters: filter.filters(names{id: "dhcp-options-id"}), MaxResults: aws.Int32(pageSize), NextToken: token,
		}
	}, func(page *ec2.DescribeDhcpOptionsOutput) ([]DHCPOptions, *string) {
		return convert(page.DhcpOptions, dhcpOptionsOf), page.NextToken
	})
}

// CreateDHCPOptions creates DHCP options with a domain and the VPC's name server.
func (s *Session) CreateDHCPOptions(ctx context.Context, domain string, tags Tags) (DHCPOptions, error) {
	output, err := invoke(ctx, s, ec2Create("CreateDhcpOptions"), s.ec2.CreateDhcpOptions, &ec2.CreateDhcpOptionsInput{
		DhcpConfigurations: []types.NewDhcpConfiguration{
			{Key: aws.String(DomainName), Values: []string{domain}},
			{Key: aws.String(DomainNameServers), Values: []string{AmazonDNS}},
		},
		TagSpecifications: tagSpecification(types.ResourceTypeDhcpOptions, tags),
	})
	if err != nil {
		return DHCPOptions{}, err
	}
	options := dhcpOptionsOf(output.DhcpOptions)
	s.created.add(options.ID)
	return options, nil
}

// AssociateDHCPOptions makes a VPC use DHCP options instead of its former ones.
func (s *Session) AssociateDHCPOptions(ctx context.Context, id, vpcID string) error {
	_, err := invoke(ctx, s, ec2Change("AssociateDhcpOptions", id, vpcID), s.ec2.AssociateDhcpOptions, &ec2.AssociateDhcpOptionsInput{
		DhcpOptionsId: aws.String(id), VpcId: aws.String(vpcID),
	})
	return err
}

// DeleteDHCPOptions deletes DHCP options. It fails with cloud.InUse while a VPC uses them.
func (s *Session) DeleteDHCPOptions(ctx context.Context, id string) error {
	_, err := invoke(ctx, s, ec2Change("DeleteDhcpOptions"), s.ec2.DeleteDhcpOptions, &ec2.DeleteDhcpOptionsInput{DhcpOptionsId: aws.String(id)})
	s.created.remove(id)
	return err
}
