package aws

import (
	"context"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

// InternetGateway connects a VPC with the internet.
type InternetGateway struct {
	ID string
	// VPCID is the VPC that it is attached to, or being attached to; empty if there is none.
	VPCID string
	Tags  Tags
}

func internetGatewayOf(g *types.InternetGateway) InternetGateway {
	return InternetGateway{ID: aws.ToString(g.InternetGatewayId), VPCID: attachedVPC(g.Attachments), Tags: tagsOf(g.Tags)}
}

// attachedVPC returns the VPC of an attachment that exists or will exist. A gateway has one at most.
func attachedVPC(attachments []types.InternetGatewayAttachment) string {
	for _, attachment := range attachments {
		if !slices.Contains([]types.AttachmentStatus{types.AttachmentStatusDetached, types.AttachmentStatusDetaching}, attachment.State) {
			return aws.ToString(attachment.VpcId)
		}
	}
	return ""
}

// ListInternetGateways returns the internet gateways that match the filter.
func (s *Session) ListInternetGateways(ctx context.Context, filter Filter) ([]InternetGateway, error) {
	return listAll(ctx, s, ec2Read("DescribeInternetGateways"), s.ec2.DescribeInternetGateways, func(token *string) *ec2.DescribeInternetGatewaysInput {
		return &ec2.DescribeInternetGatewaysInput{
			Filters: filter.filters(names{id: "internet-gateway-id", vpc: "attachment.vpc-id"}), MaxResults: aws.Int32(pageSize), NextToken: token,
		}
	}, func(page *ec2.DescribeInternetGatewaysOutput) ([]InternetGateway, *string) {
		return convert(page.InternetGateways, internetGatewayOf), page.NextToken
	})
}

// CreateInternetGateway creates an internet gateway that is attached to no VPC.
func (s *Session) CreateInternetGateway(ctx context.Context, tags Tags) (InternetGateway, error) {
	output, err := invoke(ctx, s, ec2Create("CreateInternetGateway"), s.ec2.CreateInternetGateway, &ec2.CreateInternetGatewayInput{
		TagSpecifications: tagSpecification(types.ResourceTypeInternetGateway, tags),
	})
	if err != nil {
		return InternetGateway{}, err
	}
	gateway := internetGatewayOf(output.InternetGateway)
	s.created.add(gateway.ID)
	return gateway, nil
}

// AttachInternetGateway attaches an internet gateway to a VPC. It fails with cloud.Conflict if one of them is attached already.
func (s *Session) AttachInternetGateway(ctx context.Context, id, vpcID string) error {
	_, err := invoke(ctx, s, ec2Change("AttachInternetGateway", id, vpcID), s.ec2.AttachInternetGateway, &ec2.AttachInternetGatewayInput{
		InternetGatewayId: aws.String(id), VpcId: aws.String(vpcID),
	})
	return err
}

// DetachInternetGateway fails with cloud.NotFound if it is not attached, and with cloud.InUse while something in the VPC has a public address.
func (s *Session) DetachInternetGateway(ctx context.Context, id, vpcID string) error {
	_, err := invoke(ctx, s, ec2Change("DetachInternetGateway"), s.ec2.DetachInternetGateway, &ec2.DetachInternetGatewayInput{
		InternetGatewayId: aws.String(id), VpcId: aws.String(vpcID),
	})
	return err
}

// DeleteInternetGateway deletes an internet gateway. It fails with cloud.InUse while it is attached.
func (s *Session) DeleteInternetGateway(ctx context.Context, id string) error {
	_, err := invoke(ctx, s, ec2Change("DeleteInternetGateway"), s.ec2.DeleteInternetGateway, &ec2.DeleteInternetGatewayInput{
		InternetGatewayId: aws.String(id),
	})
	s.created.remove(id)
	return err
}

// EgressOnlyGateway lets IPv6 connections out of a VPC, and none in.
type EgressOnlyGateway struct {
	ID, VPCID string
	Tags      Tags
}

func egressOnlyGatewayOf(g *types.EgressOnlyInternetGateway) EgressOnlyGateway {
	return EgressOnlyGateway{ID: aws.ToString(g.EgressOnlyInternetGatewayId), VPCID: attachedVPC(g.Attachments), Tags: tagsOf(g.Tags)}
}

// ListEgressOnlyGateways returns the egress-only gateways that match the filter. EC2 has no criteria for them but tags: the others are applied here.
func (s *Session) ListEgressOnlyGateways(ctx context.Context, filter Filter) ([]EgressOnlyGateway, error) {
	byTags := Filter{Tags: filter.Tags, TagKeys: filter.TagKeys}
	all, err := listAll(ctx, s, ec2Read("DescribeEgressOnlyInternetGateways"), s.ec2.DescribeEgressOnlyInternetGateways,
		func(token *string) *ec2.DescribeEgressOnlyInternetGatewaysInput {
			return &ec2.DescribeEgressOnlyInternetGatewaysInput{
				Filters: byTags.filters(names{}), MaxResults: aws.Int32(egressOnlyPageSize), NextToken: token,
			}
		}, func(page *ec2.DescribeEgressOnlyInternetGatewaysOutput) ([]EgressOnlyGateway, *string) {
			return convert(page.EgressOnlyInternetGateways, egressOnlyGatewayOf), page.NextToken
		})
	return slices.DeleteFunc(all, func(gateway EgressOnlyGateway) bool {
		return filter.VPCID != "" && filter.VPCID != gateway.VPCID || len(filter.IDs) > 0 && !slices.Contains(filter.IDs, gateway.ID)
	}), err
}

// egressOnlyPageSize is the most that EC2 permits for them.
const egressOnlyPageSize = 255

// CreateEgressOnlyGateway creates an egress-only gateway in a VPC. A repetition with the same token returns the same one.
func (s *Session) CreateEgressOnlyGateway(ctx context.Context, vpcID, token string, tags Tags) (EgressOnlyGateway, error) {
	output, err := invoke(ctx, s, ec2Change("CreateEgressOnlyInternetGateway", vpcID), s.ec2.CreateEgressOnlyInternetGateway,
		&ec2.CreateEgressOnlyInternetGatewayInput{
			VpcId: aws.String(vpcID), ClientToken: aws.String(token), TagSpecifications: tagSpecification(types.ResourceTypeEgressOnlyInternetGateway, tags),
		})
	if err != nil {
		return EgressOnlyGateway{}, err
	}
	gateway := egressOnlyGatewayOf(output.EgressOnlyInternetGateway)
	s.created.add(gateway.ID)
	return gateway, nil
}

// DeleteEgressOnlyGateway deletes an egress-only gateway.
func (s *Session) DeleteEgressOnlyGateway(ctx context.Context, id string) error {
	_, err := invoke(ctx, s, ec2Change("DeleteEgressOnlyInternetGateway"), s.ec2.DeleteEgressOnlyInternetGateway, &ec2.DeleteEgressOnlyInternetGatewayInput{
		EgressOnlyInternetGatewayId: aws.String(id),
	})
	s.created.remove(id)
	return err
}
