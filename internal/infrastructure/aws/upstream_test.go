package aws

import (
	"crypto/md5"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/stretchr/testify/require"

	awsv1alpha1 "github.com/trellis-garden/trellis/apis/aws/v1alpha1"
	cloudaws "github.com/trellis-garden/trellis/internal/cloud/aws"
	"github.com/trellis-garden/trellis/internal/cloud/aws/auth"
	"github.com/trellis-garden/trellis/internal/cloud/aws/fake"
	"github.com/trellis-garden/trellis/internal/infrastructure/infrastructuretest"
)

// upstreamStep is one write of upstream's extension to AWS. It returns what upstream records once the task of the step is over.
type upstreamStep struct {
	what string
	do   func(u *upstreamShoot) map[string]string
}

// upstreamShoot is a shoot of which upstream's extension makes the resources, with the names, tags and documents that it writes.
type upstreamShoot struct {
	*environment
	// clusterValue is the value of the tag of the cluster: that of older shoots is "1".
	clusterValue string
	// made is what the steps have made so far, by the keys of the state.
	made map[string]string
}

func newUpstreamShoot(t *testing.T, options ...fake.Option) *upstreamShoot {
	t.Helper()
	return &upstreamShoot{environment: newEnvironment(t, options...), clusterValue: clusterOwned, made: map[string]string{}}
}

// create makes a resource of EC2 with upstream's tags and more, and returns the ID at a path of the response, such as "Vpc/VpcId".
func (u *upstreamShoot) create(action, path, kind, name string, parameters ...string) string {
	u.t.Helper()
	parameters = append(slices.Clone(parameters), "TagSpecification.1.ResourceType", kind, "TagSpecification.1.Tag.1.Key", tagName, "TagSpecification.1.Tag.1.Value", name,
		"TagSpecification.1.Tag.2.Key", tagClusterPrefix+technicalID, "TagSpecification.1.Tag.2.Value", u.clusterValue)
	output := u.do(action, parameters...)
	outer, member, nested := strings.Cut(path, "/")
	if !nested {
		return output.String(outer)
	}
	return output.Struct(outer).String(member)
}

func (u *upstreamShoot) hasIPv6() bool {
	return slices.Contains(u.families, gardencorev1beta1.IPFamilyIPv6)
}

// upstreamSteps are all steps, in an order in which upstream's extension makes them.
func (u *upstreamShoot) upstreamSteps() []upstreamStep {
	steps := slices.Concat(upstreamVPC(), u.upstreamGateways())
	for i, zone := range u.config.Networks.Zones {
		steps = append(steps, u.upstreamZone(i, zone)...)
	}
	return slices.Concat(steps, u.upstreamNodesGroup(), u.upstreamIPv6Services(), upstreamIdentity(), upstreamKeyPair())
}

func upstreamVPC() []upstreamStep {
	return []upstreamStep{
		{"the DHCP options", func(u *upstreamShoot) map[string]string {
			return map[string]string{awsv1alpha1.StateKeyDHCPOptions: u.create("CreateDhcpOptions", "DhcpOptions/DhcpOptionsId", "dhcp-options", technicalID,
				"DhcpConfiguration.1.Key", "domain-name", "DhcpConfiguration.1.Value.1", fake.DefaultRegion+".compute.internal",
				"DhcpConfiguration.2.Key", "domain-name-servers", "DhcpConfiguration.2.Value.1", "AmazonProvidedDNS")}
		}},
		{"the VPC", func(u *upstreamShoot) map[string]string {
			parameters := []string{"CidrBlock", *u.config.Networks.VPC.CIDR, "InstanceTenancy", "default"}
			if u.hasIPv6() {
				parameters = append(parameters, "AmazonProvidedIpv6CidrBlock", "true")
			}
			id := u.create("CreateVpc", "Vpc/VpcId", "vpc", technicalID, parameters...)
			facts := map[string]string{awsv1alpha1.StateKeyVPC: id}
			if u.hasIPv6() {
				vpc := u.do("DescribeVpcs", "VpcId.1", id).Structs("Vpcs")[0]
				facts[awsv1alpha1.StateKeyVPCIPv6CIDR] = vpc.Structs("Ipv6CidrBlockAssociationSet")[0].String("Ipv6CidrBlock")
			}
			return facts
		}},
		{"DNS hostnames", func(u *upstreamShoot) map[string]string {
			u.do("ModifyVpcAttribute", "VpcId", u.made[awsv1alpha1.StateKeyVPC], "EnableDnsHostnames.Value", "true")
			return nil
		}},
		{"the assignment of the DHCP options", func(u *upstreamShoot) map[string]string {
			u.do("AssociateDhcpOptions", "VpcId", u.made[awsv1alpha1.StateKeyVPC], "DhcpOptionsId", u.made[awsv1alpha1.StateKeyDHCPOptions])
			return nil
		}},
		{"the default security group", func(u *upstreamShoot) map[string]string {
			group := u.do("DescribeSecurityGroups", "Filter.1.Name", "vpc-id", "Filter.1.Value.1", u.made[awsv1alpha1.StateKeyVPC]).Structs("SecurityGroups")[0]
			id := group.String("GroupId")
			u.do("RevokeSecurityGroupIngress", "GroupId", id, "IpPermissions.1.IpProtocol", "-1", "IpPermissions.1.Groups.1.GroupId", id)
			egress := []string{"GroupId", id, "IpPermissions.1.IpProtocol", "-1", "IpPermissions.1.IpRanges.1.CidrIp", anywhere}
			u.do("RevokeSecurityGroupEgress", egress...)
			for _, permission := range group.Structs("IpPermissionsEgress") {
				if len(permission.Structs("Ipv6Ranges")) > 0 {
					u.do("RevokeSecurityGroupEgress", "GroupId", id, "IpPermissions.1.IpProtocol", "-1", "IpPermissions.1.Ipv6Ranges.1.CidrIpv6", anywhereIPv6)
				}
			}
			return map[string]string{awsv1alpha1.StateKeyDefaultSecurityGroup: id}
		}},
	}
}

func (u *upstreamShoot) upstreamGateways() []upstreamStep {
	steps := []upstreamStep{
		{"the internet gateway", func(u *upstreamShoot) map[string]string {
			return map[string]string{awsv1alpha1.StateKeyInternetGateway: u.create("CreateInternetGateway", "InternetGateway/InternetGatewayId", "internet-gateway", technicalID)}
		}},
		{"the attachment of the internet gateway", func(u *upstreamShoot) map[string]string {
			u.do("AttachInternetGateway", "InternetGatewayId", u.made[awsv1alpha1.StateKeyInternetGateway], "VpcId", u.made[awsv1alpha1.StateKeyVPC])
			return nil
		}},
	}
	if u.hasIPv6() {
		steps = append(steps, upstreamStep{"the egress-only internet gateway", func(u *upstreamShoot) map[string]string {
			return map[string]string{awsv1alpha1.StateKeyEgressOnlyInternetGateway: u.create("CreateEgressOnlyInternetGateway",
				"EgressOnlyInternetGateway/EgressOnlyInternetGatewayId", "egress-only-internet-gateway", technicalID, "VpcId", u.made[awsv1alpha1.StateKeyVPC])}
		}})
	}
	for _, service := range u.config.Networks.VPC.GatewayEndpoints {
		steps = append(steps, upstreamStep{"the gateway endpoint of " + service, func(u *upstreamShoot) map[string]string {
			return map[string]string{awsv1alpha1.VPCEndpointStateKey(service): u.create("CreateVpcEndpoint", "VpcEndpoint/VpcEndpointId", "vpc-endpoint",
				technicalID+"-gw-"+service, "VpcId", u.made[awsv1alpha1.StateKeyVPC], "ServiceName", servicePrefix(fake.DefaultRegion)+service)}
		}})
	}
	steps = append(steps,
		upstreamStep{"the main route table", func(u *upstreamShoot) map[string]string {
			return map[string]string{awsv1alpha1.StateKeyMainRouteTable: u.create("CreateRouteTable", "RouteTable/RouteTableId", "route-table", technicalID,
				"VpcId", u.made[awsv1alpha1.StateKeyVPC])}
		}},
		upstreamRoute("the main route table", awsv1alpha1.StateKeyMainRouteTable, anywhere, "GatewayId", awsv1alpha1.StateKeyInternetGateway))
	if u.hasIPv6() {
		steps = append(steps, upstreamRoute("the main route table", awsv1alpha1.StateKeyMainRouteTable, anywhereIPv6, "GatewayId", awsv1alpha1.StateKeyInternetGateway))
	}
	return steps
}

// upstreamRoute adds a route to a table. Table and target are keys of the state.
func upstreamRoute(what, table, destination, parameter, target string) upstreamStep {
	return upstreamStep{"the route to " + destination + " of " + what, func(u *upstreamShoot) map[string]string {
		member := "DestinationCidrBlock"
		if strings.Contains(destination, ":") {
			member = "DestinationIpv6CidrBlock"
		}
		u.do("CreateRoute", "RouteTableId", u.made[table], member, destination, parameter, u.made[target])
		return nil
	}}
}

func upstreamIdentity() []upstreamStep {
	const name = technicalID + "-nodes"
	return []upstreamStep{
		{"the role", func(u *upstreamShoot) map[string]string {
			role := u.doIn(fake.IAM, "CreateRole", "RoleName", name, "Path", "/", "AssumeRolePolicyDocument", upstreamTrust).Struct("Role")
			return map[string]string{awsv1alpha1.StateKeyIAMRoleName: name, awsv1alpha1.StateKeyIAMRoleARN: role.String("Arn")}
		}},
		{"the instance profile", func(u *upstreamShoot) map[string]string {
			u.doIn(fake.IAM, "CreateInstanceProfile", "InstanceProfileName", name, "Path", "/")
			return map[string]string{awsv1alpha1.StateKeyIAMInstanceProfileName: name}
		}},
		{"the role in the instance profile", func(u *upstreamShoot) map[string]string {
			u.doIn(fake.IAM, "AddRoleToInstanceProfile", "InstanceProfileName", name, "RoleName", name)
			return nil
		}},
		{"the policy of the role", func(u *upstreamShoot) map[string]string {
			u.doIn(fake.IAM, "PutRolePolicy", "RoleName", name, "PolicyName", name, "PolicyDocument", upstreamPolicy)
			return map[string]string{awsv1alpha1.StateKeyIAMRolePolicyName: name}
		}},
	}
}

func upstreamKeyPair() []upstreamStep {
	return []upstreamStep{{"the key pair", func(u *upstreamShoot) map[string]string {
		const name = technicalID + "-ssh-publickey"
		u.create("ImportKeyPair", "KeyPairId", "key-pair", technicalID, "KeyName", name, "PublicKeyMaterial", base64Of(sshKey))
		found := u.do("DescribeKeyPairs", "KeyName.1", name).Structs("KeyPairs")[0]
		sum := md5.Sum([]byte(sshKey))
		return map[string]string{
			awsv1alpha1.StateKeyKeyPair: name, awsv1alpha1.StateKeyKeyPairFingerprint: found.String("KeyFingerprint"),
			awsv1alpha1.StateKeyKeyPairSpecFingerprint: hex.EncodeToString(sum[:]),
		}
	}}}
}

// run makes the first steps, and saves what upstream records of them: of the last one nothing unless it came to that.
func (u *upstreamShoot) run(steps []upstreamStep, recordsLast bool) {
	u.t.Helper()
	recorded := map[string]string{}
	for i, step := range steps {
		facts := step.do(u)
		maps.Copy(u.made, facts)
		if i < len(steps)-1 || recordsLast {
			maps.Copy(recorded, facts)
		}
	}
	u.saveUpstream(recorded)
}

// saveUpstream saves data as upstream's extension does.
func (u *upstreamShoot) saveUpstream(data map[string]string) {
	u.save(map[string]any{"apiVersion": "aws.provider.extensions.gardener.cloud/v1alpha1", "kind": "InfrastructureState", "data": data})
	u.attempted = true
	u.cloud.ResetLog()
}

// deployed makes everything, with the state in full.
func (u *upstreamShoot) deployed() *upstreamShoot {
	u.t.Helper()
	u.run(u.upstreamSteps(), true)
	return u
}

// resources lists what is in the account, with all that is true of it. It leaves no calls in the log.
func (env *environment) resources() []infrastructuretest.Resource {
	env.t.Helper()
	all, err := ListAccount(env.t.Context(), env.cloud, env.operator())
	require.NoError(env.t, err)
	env.cloud.ResetLog()
	return all
}

// operator is a session of somebody else in the account.
func (env *environment) operator() *cloudaws.Session {
	env.t.Helper()
	key := fake.DefaultKey()
	sessions := cloudaws.NewSessions(cloudaws.Options{Endpoint: env.cloud.URL(), QPS: -1})
	session, err := sessions.Get(env.t.Context(), auth.Credentials{AccessKeyID: key.KeyID, SecretAccessKey: key.Secret}, fake.DefaultRegion)
	require.NoError(env.t, err)
	return session
}

// facts lists what is in the account without IDs, sorted.
func (env *environment) facts() []string {
	var all []string
	for _, r := range env.resources() {
		all = append(all, fmt.Sprintf("%s %q %s", r.Kind, r.Name, r.Facts))
	}
	slices.Sort(all)
	return all
}

// zoneNumber is the number of a zone in names, and in upstream's order of IPv6 ranges.
func zoneNumber(i int) string { return "z" + strconv.Itoa(i) }
