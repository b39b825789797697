//go:build awscli

package fake_test

import (
	"bytes"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/cloud/aws/fake"
)

// cli runs AWS' own command line client, which has a copy of the service models of its own.
type cli struct {
	*account

	path string
	// names has the IDs of resources by the names of steps.
	names map[string]string
}

func newCLI(t *testing.T) *cli {
	t.Helper()
	path, err := exec.LookPath("aws")
	require.NoError(t, err, "this test needs AWS' command line client: apt-get install awscli")
	return &cli{account: newAccount(t), path: path, names: map[string]string{}}
}

// run runs a command, in which {name} stands for the ID of a step. It returns what the command prints, without white space around it.
func (c *cli) run(command string) (stdout, stderr string, err error) {
	c.t.Helper()
	for name, id := range c.names {
		command = strings.ReplaceAll(command, "{"+name+"}", id)
	}
	cmd := exec.CommandContext(c.t.Context(), c.path, append([]string{"--endpoint-url", c.URL(), "--output", "text"}, strings.Fields(command)...)...)
	cmd.Env = []string{
		"PATH=/usr/bin:/bin", "HOME=" + c.t.TempDir(), "AWS_ACCESS_KEY_ID=" + c.key.KeyID, "AWS_SECRET_ACCESS_KEY=" + c.key.Secret,
		"AWS_DEFAULT_REGION=" + c.region, "AWS_PAGER=", "AWS_MAX_ATTEMPTS=1",
	}
	var out, problems bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &problems
	err = cmd.Run()
	return strings.TrimSpace(out.String()), strings.TrimSpace(problems.String()), err
}

func (c *cli) must(command string) string {
	c.t.Helper()
	out, problems, err := c.run(command)
	require.NoError(c.t, err, "aws %s: %s", command, problems)
	return out
}

// step creates a resource, shows it, and deletes it.
type step struct {
	// name is what later steps call the resource. create prints its ID.
	name, create string
	// change are commands after the creation.
	change []string
	// show prints the ID, among others.
	show, remove string
}

// tagged is the option that gives a resource a tag at its creation.
func tagged(kind string) string {
	return " --tag-specifications ResourceType=" + kind + ",Tags=[{Key=Name,Value=one}]"
}

func networkSteps() []step {
	return []step{
		{
			name: "dhcp", create: "ec2 create-dhcp-options --dhcp-configurations Key=domain-name,Values=example.com --query DhcpOptions.DhcpOptionsId" + tagged("dhcp-options"),
			show: "ec2 describe-dhcp-options --query DhcpOptions[].DhcpOptionsId", remove: "ec2 delete-dhcp-options --dhcp-options-id {dhcp}",
		},
		{
			name: "vpc", create: "ec2 create-vpc --cidr-block 10.250.0.0/16 --amazon-provided-ipv6-cidr-block --query Vpc.VpcId" + tagged("vpc"),
			change: []string{
				"ec2 modify-vpc-attribute --vpc-id {vpc} --enable-dns-hostnames", "ec2 associate-dhcp-options --dhcp-options-id {dhcp} --vpc-id {vpc}",
				"ec2 describe-vpc-attribute --vpc-id {vpc} --attribute enableDnsHostnames",
			},
			show: "ec2 describe-vpcs --filters Name=tag:Name,Values=one --query Vpcs[].VpcId", remove: "ec2 delete-vpc --vpc-id {vpc}",
		},
		{
			name: "gateway", create: "ec2 create-internet-gateway --query InternetGateway.InternetGatewayId" + tagged("internet-gateway"),
			change: []string{"ec2 attach-internet-gateway --internet-gateway-id {gateway} --vpc-id {vpc}"},
			show:   "ec2 describe-internet-gateways --filters Name=attachment.vpc-id,Values={vpc} --query InternetGateways[].InternetGatewayId",
			remove: "ec2 delete-internet-gateway --internet-gateway-id {gateway}",
		},
		{
			name: "egress", create: "ec2 create-egress-only-internet-gateway --vpc-id {vpc} --query EgressOnlyInternetGateway.EgressOnlyInternetGatewayId",
			show:   "ec2 describe-egress-only-internet-gateways --query EgressOnlyInternetGateways[].EgressOnlyInternetGatewayId",
			remove: "ec2 delete-egress-only-internet-gateway --egress-only-internet-gateway-id {egress}",
		},
		{
			name: "subnet", create: "ec2 create-subnet --vpc-id {vpc} --cidr-block 10.250.0.0/24 --availability-zone eu-west-1a --query Subnet.SubnetId" + tagged("subnet"),
			change: []string{"ec2 create-tags --resources {subnet} --tags Key=a,Value=b", "ec2 delete-tags --resources {subnet} --tags Key=a"},
			show:   "ec2 describe-subnets --filters Name=vpc-id,Values={vpc} --query Subnets[].SubnetId", remove: "ec2 delete-subnet --subnet-id {subnet}",
		},
		{
			name: "table", create: "ec2 create-route-table --vpc-id {vpc} --query RouteTable.RouteTableId" + tagged("route-table"),
			change: []string{
				"ec2 create-route --route-table-id {table} --destination-cidr-block 0.0.0.0/0 --gateway-id {gateway}",
				"ec2 associate-route-table --route-table-id {table} --subnet-id {subnet}",
			},
			show: "ec2 describe-route-tables --route-table-ids {table} --query RouteTables[].RouteTableId", remove: "ec2 delete-route-table --route-table-id {table}",
		},
		{
			name: "address", create: "ec2 allocate-address --domain vpc --query AllocationId" + tagged("elastic-ip"),
			show: "ec2 describe-addresses --query Addresses[].AllocationId", remove: "ec2 release-address --allocation-id {address}",
		},
		{
			name: "nat", create: "ec2 create-nat-gateway --subnet-id {subnet} --allocation-id {address} --query NatGateway.NatGatewayId" + tagged("natgateway"),
			show:   "ec2 describe-nat-gateways --filter Name=state,Values=available --query NatGateways[].NatGatewayId",
			remove: "ec2 delete-nat-gateway --nat-gateway-id {nat}",
		},
		{
			name:   "endpoint",
			create: "ec2 create-vpc-endpoint --vpc-id {vpc} --service-name com.amazonaws.eu-west-1.s3 --route-table-ids {table} --query VpcEndpoint.VpcEndpointId",
			show:   "ec2 describe-vpc-endpoints --query VpcEndpoints[].VpcEndpointId", remove: "ec2 delete-vpc-endpoints --vpc-endpoint-ids {endpoint}",
		},
		{
			name: "group", create: "ec2 create-security-group --group-name nodes --description nodes --vpc-id {vpc} --query GroupId" + tagged("security-group"),
			change: []string{
				"ec2 authorize-security-group-ingress --group-id {group} --protocol tcp --port 30000-32767 --cidr 0.0.0.0/0",
				"ec2 revoke-security-group-ingress --group-id {group} --protocol tcp --port 30000-32767 --cidr 0.0.0.0/0",
			},
			show: "ec2 describe-security-groups --filters Name=group-name,Values=nodes --query SecurityGroups[].GroupId", remove: "ec2 delete-security-group --group-id {group}",
		},
	}
}

func identitySteps() []step {
	return []step{
		{
			name: "role", create: `iam create-role --role-name nodes --assume-role-policy-document {"Version":"2012-10-17","Statement":[]} --query Role.RoleName`,
			change: []string{`iam put-role-policy --role-name nodes --policy-name nodes --policy-document {"Version":"2012-10-17","Statement":[]}`},
			show:   "iam get-role-policy --role-name nodes --policy-name nodes --query RoleName", remove: "iam delete-role --role-name nodes",
		},
		{
			name: "profile", create: "iam create-instance-profile --instance-profile-name workers --query InstanceProfile.InstanceProfileName",
			change: []string{"iam add-role-to-instance-profile --instance-profile-name workers --role-name nodes"},
			show:   "iam get-instance-profile --instance-profile-name workers --query InstanceProfile.InstanceProfileName",
			remove: "iam delete-instance-profile --instance-profile-name workers",
		},
	}
}

func fileSystemSteps() []step {
	return []step{
		{
			name: "system", create: "efs create-file-system --creation-token shoot --encrypted --tags Key=Name,Value=one --query FileSystemId",
			change: []string{
				"efs tag-resource --resource-id {system} --tags Key=a,Value=b",
				"efs untag-resource --resource-id arn:aws:elasticfilesystem:eu-west-1:" + fake.DefaultAccountID + ":file-system/{system} --tag-keys a",
				"efs list-tags-for-resource --resource-id {system}",
			},
			show: "efs describe-file-systems --creation-token shoot --query FileSystems[].FileSystemId", remove: "efs delete-file-system --file-system-id {system}",
		},
		{
			name: "target", create: "efs create-mount-target --file-system-id {system} --subnet-id {subnet} --security-groups {group} --query MountTargetId",
			change: []string{
				"efs modify-mount-target-security-groups --mount-target-id {target} --security-groups {group}",
				"efs describe-mount-target-security-groups --mount-target-id {target}",
			},
			show:   "efs describe-mount-targets --file-system-id {system} --query MountTargets[].MountTargetId",
			remove: "efs delete-mount-target --mount-target-id {target}",
		},
	}
}

// The client creates, shows and deletes everything that the fake has. What must go before a deletion goes first.
func TestAWSCLI(t *testing.T) {
	c := newCLI(t)
	steps := slices.Concat(networkSteps(), identitySteps(), fileSystemSteps())
	for _, s := range steps {
		c.names[s.name] = c.must(s.create)
		require.NotEmpty(t, c.names[s.name], s.create)
		for _, change := range s.change {
			c.must(change)
		}
		assert.Contains(t, strings.Fields(c.must(s.show)), c.names[s.name], s.show)
	}
	assert.Equal(t, fake.DefaultAccountID, c.must("sts get-caller-identity --query Account"))
	assert.Empty(t, c.must("elb describe-load-balancers --query LoadBalancerDescriptions"))
	assert.Empty(t, c.must("elbv2 describe-load-balancers --query LoadBalancers"))

	_, problems, err := c.run("ec2 delete-vpc --vpc-id {vpc}")
	require.Error(t, err)
	assert.Contains(t, problems, "(DependencyViolation) when calling the DeleteVpc operation")
	_, problems, err = c.run("ec2 describe-subnets --subnet-ids subnet-0123456789abcdef0")
	require.Error(t, err)
	assert.Contains(t, problems, "(InvalidSubnetID.NotFound)")

	_, problems, err = c.run("efs create-file-system --creation-token shoot")
	require.Error(t, err)
	assert.Contains(t, problems, "(FileSystemAlreadyExists) when calling the CreateFileSystem operation")
	_, problems, err = c.run("efs delete-file-system --file-system-id {system}")
	require.Error(t, err)
	assert.Contains(t, problems, "(FileSystemInUse) when calling the DeleteFileSystem operation: File system")

	c.must("iam remove-role-from-instance-profile --instance-profile-name workers --role-name nodes")
	c.must("iam delete-role-policy --role-name nodes --policy-name nodes")
	for _, s := range slices.Backward(steps) {
		if s.name == "table" {
			// Its subnet, with which the association goes, was created before it.
			c.must("ec2 disassociate-route-table --association-id " +
				c.must("ec2 describe-route-tables --route-table-ids {table} --query RouteTables[0].Associations[0].RouteTableAssociationId"))
		}
		if s.name == "gateway" {
			c.must("ec2 detach-internet-gateway --internet-gateway-id {gateway} --vpc-id {vpc}")
		}
		c.must(s.remove)
	}
	assert.Empty(t, c.Resources())
}
