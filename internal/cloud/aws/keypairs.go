package aws

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

// KeyPair is a public key for SSH to nodes.
type KeyPair struct {
	ID, Name string
	// Fingerprint is AWS' own hash of the key: MD5 of an imported RSA key, SHA-256 of an ED25519 one.
	Fingerprint string
	// PublicKey is the key in the format of OpenSSH, with AWS' own comment.
	PublicKey string
	Tags      Tags
}

func keyPairOf(k *types.KeyPairInfo) KeyPair {
	return KeyPair{
		ID: aws.ToString(k.KeyPairId), Name: aws.ToString(k.KeyName), Fingerprint: aws.ToString(k.KeyFingerprint), PublicKey: aws.ToString(k.PublicKey), Tags: tagsOf(k.Tags),
	}
}

// ListKeyPairs returns the key pairs that match the filter, with their public keys. EC2 lists them all at once.
func (s *Session) ListKeyPairs(ctx context.Context, filter Filter) ([]KeyPair, error) {
	output, err := invoke(ctx, s, ec2Read("DescribeKeyPairs"), s.ec2.DescribeKeyPairs, &ec2.DescribeKeyPairsInput{
		Filters: filter.filters(names{id: "key-pair-id", name: "key-name"}), IncludePublicKey: aws.Bool(true),
	})
	if err != nil {
		return nil, err
	}
	return convert(output.KeyPairs, keyPairOf), nil
}

// ImportKeyPair creates a key pair from a public key. It fails with cloud.Conflict if there is one with the name.
func (s *Session) ImportKeyPair(ctx context.Context, name string, publicKey []byte, tags Tags) (KeyPair, error) {
	output, err := invoke(ctx, s, ec2Create("ImportKeyPair"), s.ec2.ImportKeyPair, &ec2.ImportKeyPairInput{
		KeyName: aws.String(name), PublicKeyMaterial: publicKey, TagSpecifications: tagSpecification(types.ResourceTypeKeyPair, tags),
	})
	if err != nil {
		return KeyPair{}, err
	}
	return KeyPair{ID: aws.ToString(output.KeyPairId), Name: name, Fingerprint: aws.ToString(output.KeyFingerprint), Tags: tags}, nil
}

// DeleteKeyPair deletes a key pair by its name. One that does not exist is no error.
func (s *Session) DeleteKeyPair(ctx context.Context, name string) error {
	_, err := invoke(ctx, s, ec2Change("DeleteKeyPair"), s.ec2.DeleteKeyPair, &ec2.DeleteKeyPairInput{KeyName: aws.String(name)})
	return err
}

// Interface is a network interface: of a node, a load balancer, a NAT gateway, or anything else in a VPC.
type Interface struct {
	ID, SubnetID, VPCID string
	// Description, Type and RequesterID say whose it is, e.g. "ELB net/name/1f…", "nat_gateway", "amazon-elb".
	Description, Type, RequesterID string
	// InstanceID is the instance that has it; may be empty.
	InstanceID string
	GroupIDs   []string
	Status     string
	Tags       Tags
}

func interfaceOf(n *types.NetworkInterface) Interface {
	one := Interface{
		ID: aws.ToString(n.NetworkInterfaceId), SubnetID: aws.ToString(n.SubnetId), VPCID: aws.ToString(n.VpcId), Description: aws.ToString(n.Description),
		Type: string(n.InterfaceType), RequesterID: aws.ToString(n.RequesterId), Status: string(n.Status), Tags: tagsOf(n.TagSet),
	}
	if n.Attachment != nil {
		one.InstanceID = aws.ToString(n.Attachment.InstanceId)
	}
	for _, group := range n.Groups {
		one.GroupIDs = append(one.GroupIDs, aws.ToString(group.GroupId))
	}
	return one
}

// ListInterfaces returns the network interfaces that match the filter.
func (s *Session) ListInterfaces(ctx context.Context, filter Filter) ([]Interface, error) {
	return listAll(ctx, s, ec2Read("DescribeNetworkInterfaces"), s.ec2.DescribeNetworkInterfaces, func(token *string) *ec2.DescribeNetworkInterfacesInput {
		return &ec2.DescribeNetworkInterfacesInput{
			Filters: filter.filters(names{id: "network-interface-id", vpc: "vpc-id"}), MaxResults: aws.Int32(pageSize), NextToken: token,
		}
	}, func(page *ec2.DescribeNetworkInterfacesOutput) ([]Interface, *string) {
		return convert(page.NetworkInterfaces, interfaceOf), page.NextToken
	})
}
