package fake_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/cloud/aws/fake"
)

// launch is what an instance needs: a subnet, a group, an image, a key pair and an instance profile.
type launch struct{ vpc, subnet, group, image string }

func (a *account) launchpad() launch {
	a.t.Helper()
	id := a.vpc()
	a.do("ImportKeyPair", "KeyName", "key", "PublicKeyMaterial", base64Of(ed25519Key))
	a.do("iam:CreateInstanceProfile", "InstanceProfileName", "nodes")
	return launch{vpc: id, subnet: a.subnet(id, "10.250.0.0/24"), group: a.group(id, "nodes"), image: a.AddImage("linux", "/dev/xvda")}
}

// request returns the parameters of RunInstances.
func (l launch) request(more ...string) []string {
	return with([]string{
		"MinCount", "1", "MaxCount", "1", "ImageId", l.image, "InstanceType", "m5.large", "KeyName", "key", "IamInstanceProfile.Name", "nodes",
		"NetworkInterface.1.SubnetId", l.subnet, "NetworkInterface.1.SecurityGroupId.1", l.group, "NetworkInterface.1.DeviceIndex", "0",
	}, more...)
}

const instancePath = "reservationSet/item/instancesSet/item/"

func (a *account) run(l launch, more ...string) string {
	a.t.Helper()
	return a.do("RunInstances", l.request(more...)...).text("instancesSet/item/instanceId")
}

func (a *account) stateOf(id string) string {
	a.t.Helper()
	return a.do("DescribeInstances", "InstanceId.1", id).text(instancePath + "instanceState/name")
}

func TestInstances_Lifecycle(t *testing.T) {
	const lifecycle = "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-instance-lifecycle.html"
	testBehaviours(t, map[string]behaviour{
		"an instance is pending, running, shutting down and terminated, and visible for some time afterwards": {
			source: lifecycle, options: []fake.Option{
				fake.WithTransition(fake.InstanceStart, fake.Transition{Reads: 1}), fake.WithTransition(fake.InstanceTerminate, fake.Transition{Reads: 1}),
				fake.WithTransition(fake.InstanceForget, fake.Transition{Reads: 1}),
			},
			check: func(t *testing.T, a *account) {
				l := a.launchpad()
				run := a.do("RunInstances", l.request()...)
				id := run.text("instancesSet/item/instanceId")
				assert.Equal(t, "pending", run.text("instancesSet/item/instanceState/name"))
				assert.Equal(t, []string{"pending", "running"}, []string{a.stateOf(id), a.stateOf(id)})
				end := a.do("TerminateInstances", "InstanceId.1", id)
				assert.Equal(t, "running", end.text("instancesSet/item/previousState/name"))
				assert.Equal(t, "shutting-down", end.text("instancesSet/item/currentState/name"))
				assert.Contains(t, a.Resources(), id)
				assert.Equal(t, []string{"shutting-down", "terminated"}, []string{a.stateOf(id), a.stateOf(id)})
				assert.NotContains(t, a.Resources(), id)
				a.fails("InvalidInstanceID.NotFound", "DescribeInstances", "InstanceId.1", id)
				a.fails("InvalidInstanceID.NotFound", "TerminateInstances", "InstanceId.1", id)
			},
		},
		"a terminated instance has neither interfaces nor a name, and may be terminated again": {
			source: lifecycle + " and " + reference("TerminateInstances"),
			check: func(t *testing.T, a *account) {
				id := a.run(a.launchpad())
				a.do("TerminateInstances", "InstanceId.1", id)
				shown := a.do("DescribeInstances", "InstanceId.1", id)
				assert.Empty(t, shown.texts(instancePath+"networkInterfaceSet/item/networkInterfaceId"))
				assert.Empty(t, shown.text(instancePath+"privateDnsName"))
				assert.Equal(t, "Client.UserInitiatedShutdown", shown.text(instancePath+"stateReason/code"))
				assert.Equal(t, "terminated", a.do("TerminateInstances", "InstanceId.1", id).text("instancesSet/item/previousState/name"))
			},
		},
		"an instance that cannot be started is terminated, with the reason": {
			source: "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/troubleshooting-launch.html",
			options: []fake.Option{fake.WithTransition(fake.InstanceStart, fake.Transition{
				Reads: 1, Fail: true, Code: "Client.InternalError", Message: "Client error on launch",
			})},
			check: func(t *testing.T, a *account) {
				id := a.run(a.launchpad())
				assert.Equal(t, "pending", a.stateOf(id))
				shown := a.do("DescribeInstances", "InstanceId.1", id)
				assert.Equal(t, "terminated", shown.text(instancePath+"instanceState/name"))
				assert.Equal(t, "Client.InternalError", shown.text(instancePath+"stateReason/code"))
			},
		},
		"AWS may interrupt a spot instance": {
			source: "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/spot-interruptions.html",
			check: func(t *testing.T, a *account) {
				id := a.run(a.launchpad(), "InstanceMarketOptions.MarketType", "spot")
				assert.Equal(t, "spot", a.do("DescribeInstances", "InstanceId.1", id).text(instancePath+"instanceLifecycle"))
				require.NoError(t, a.InterruptInstance(id))
				assert.Equal(t, "terminated", a.stateOf(id))
				assert.Error(t, a.InterruptInstance("i-1"))
			},
		},
		"none of several instances is terminated if one does not exist": {
			source: reference("TerminateInstances"),
			check: func(t *testing.T, a *account) {
				id := a.run(a.launchpad())
				a.fails("InvalidInstanceID.NotFound", "TerminateInstances", "InstanceId.1", id, "InstanceId.2", "i-1")
				assert.Equal(t, "running", a.stateOf(id))
			},
		},
		"a new instance and its tags are visible late": {
			source: "https://docs.aws.amazon.com/ec2/latest/devguide/eventual-consistency.html",
			check: func(t *testing.T, a *account) {
				l := a.launchpad()
				a.SetLag(fake.Lag{Reads: 1, TagReads: 2})
				id := a.run(l, tags("instance", "Name", "one")...)
				byName := func() []string {
					return a.do("DescribeInstances", filter(1, "tag:Name", "one")...).texts(instancePath + "instanceId")
				}
				a.fails("InvalidInstanceID.NotFound", "DescribeInstances", "InstanceId.1", id)
				assert.Empty(t, byName())
				assert.Empty(t, byName())
				assert.Equal(t, []string{id}, byName())
			},
		},
	})
}

func TestInstances_Tokens(t *testing.T) {
	const guide = "https://docs.aws.amazon.com/ec2/latest/devguide/ec2-api-idempotency.html"
	testBehaviours(t, map[string]behaviour{
		"a request with the same token returns the same instance, as it is now": {
			source: guide,
			check: func(t *testing.T, a *account) {
				l := a.launchpad()
				id := a.run(l, "ClientToken", "one")
				assert.Equal(t, id, a.run(l, "ClientToken", "one"))
				assert.NotEqual(t, id, a.run(l, "ClientToken", "two"))
				shown := a.do("DescribeInstances", filter(1, "client-token", "one")...)
				assert.Equal(t, []string{id}, shown.texts(instancePath+"instanceId"))
				a.do("TerminateInstances", "InstanceId.1", id)
				again := a.do("RunInstances", l.request("ClientToken", "one")...)
				assert.Equal(t, id, again.text("instancesSet/item/instanceId"))
				assert.Equal(t, "terminated", again.text("instancesSet/item/instanceState/name"))
			},
		},
		"another request with the same token is refused": {
			source: guide,
			check: func(_ *testing.T, a *account) {
				l := a.launchpad()
				a.run(l, "ClientToken", "one")
				a.fails("IdempotentParameterMismatch", "RunInstances", l.request("ClientToken", "one", "UserData", base64Of("x"))...)
			},
		},
		"a token of a request that failed may be used again": {
			source: judgement,
			check: func(_ *testing.T, a *account) {
				l := a.launchpad()
				a.SetQuota(fake.QuotaInstances, 0)
				a.fails("InstanceLimitExceeded", "RunInstances", l.request("ClientToken", "one")...)
				a.SetQuota(fake.QuotaInstances, 1)
				a.run(l, "ClientToken", "one")
			},
		},
	})
}

func TestInstances_Contents(t *testing.T) {
	testBehaviours(t, map[string]behaviour{
		"an instance has what the request says, and tags of its own, of its volumes and of its interfaces": {
			source: reference("RunInstances"),
			check: func(t *testing.T, a *account) {
				l := a.launchpad()
				id := a.run(l, "BlockDeviceMapping.1.DeviceName", "/dev/xvda", "BlockDeviceMapping.1.Ebs.VolumeType", "gp3", "BlockDeviceMapping.1.Ebs.VolumeSize", "50",
					"BlockDeviceMapping.2.DeviceName", "/dev/sdf", "BlockDeviceMapping.2.Ebs.VolumeSize", "10", "BlockDeviceMapping.2.Ebs.DeleteOnTermination", "false",
					"MetadataOptions.HttpTokens", "required", "MetadataOptions.HttpPutResponseHopLimit", "2", "CpuOptions.CoreCount", "1", "CpuOptions.ThreadsPerCore", "2",
					"Placement.Tenancy", "dedicated", "EbsOptimized", "true", "Monitoring.Enabled", "true",
					"TagSpecification.1.ResourceType", "instance", "TagSpecification.1.Tag.1.Key", "of", "TagSpecification.1.Tag.1.Value", "instance",
					"TagSpecification.2.ResourceType", "volume", "TagSpecification.2.Tag.1.Key", "of", "TagSpecification.2.Tag.1.Value", "volume",
					"TagSpecification.3.ResourceType", "network-interface", "TagSpecification.3.Tag.1.Key", "of", "TagSpecification.3.Tag.1.Value", "interface")
				shown := a.do("DescribeInstances", filter(1, "vpc-id", l.vpc)...)
				for path, want := range map[string]string{
					"instanceId": id, "tagSet/item/value": "instance", "imageId": l.image, "keyName": "key", "privateIpAddress": "10.250.0.4", "ebsOptimized": "true",
					"privateDnsName": "ip-10-250-0-4.eu-west-1.compute.internal", "subnetId": l.subnet, "groupSet/item/groupId": l.group, "monitoring/state": "enabled",
					"iamInstanceProfile/arn": "arn:aws:iam::123456789012:instance-profile/nodes", "metadataOptions/httpTokens": "required", "cpuOptions/coreCount": "1",
					"placement/availabilityZone": "eu-west-1a", "placement/tenancy": "dedicated", "networkInterfaceSet/item/sourceDestCheck": "true",
				} {
					assert.Equal(t, want, shown.text(instancePath+path), path)
				}
				volumes := a.do("DescribeVolumes", with(filter(1, "attachment.instance-id", id), filter(2, "tag:of", "volume")...)...)
				assert.Equal(t, []string{"gp3", "gp2"}, volumes.texts("volumeSet/item/volumeType"))
				interfaces := a.do("DescribeNetworkInterfaces", with(filter(1, "attachment.instance-id", id), filter(2, "tag:of", "interface")...)...)
				assert.Equal(t, []string{"in-use"}, interfaces.texts("networkInterfaceSet/item/status"))

				a.do("TerminateInstances", "InstanceId.1", id)
				left := a.do("DescribeVolumes")
				assert.Equal(t, []string{"available"}, left.texts("volumeSet/item/status"), "a volume that is to be kept")
				assert.Contains(t, a.Resources(), left.text("volumeSet/item/volumeId"))
			},
		},
		"the interfaces of an instance occupy addresses, and prevent the deletion of their subnet and groups until it is terminated": {
			source: reference("DeleteSubnet"), options: []fake.Option{fake.WithTransition(fake.InstanceTerminate, fake.Transition{Reads: 1})},
			check: func(t *testing.T, a *account) {
				l := a.launchpad()
				id := a.run(l)
				assert.Equal(t, "250", a.do("DescribeSubnets", "SubnetId.1", l.subnet).text("subnetSet/item/availableIpAddressCount"))
				a.do("TerminateInstances", "InstanceId.1", id)
				a.fails("DependencyViolation", "DeleteSubnet", "SubnetId", l.subnet)
				a.fails("DependencyViolation", "DeleteSecurityGroup", "GroupId", l.group)
				a.stateOf(id)
				a.do("DeleteSubnet", "SubnetId", l.subnet)
				a.do("DeleteSecurityGroup", "GroupId", l.group)
			},
		},
		"an interface gets IPv6 addresses with its instance, and prefixes afterwards, and a repetition assigns another one": {
			source: reference("AssignIpv6Addresses"),
			check: func(t *testing.T, a *account) {
				l := a.launchpad()
				a.fails("InvalidParameterValue", "RunInstances", l.request("NetworkInterface.1.Ipv6AddressCount", "1")...)
				a.do("AssociateVpcCidrBlock", "VpcId", l.vpc, "AmazonProvidedIpv6CidrBlock", "true")
				block := a.do("DescribeVpcs", "VpcId.1", l.vpc).text("vpcSet/item/ipv6CidrBlockAssociationSet/item/ipv6CidrBlock")
				a.do("AssociateSubnetCidrBlock", "SubnetId", l.subnet, "Ipv6CidrBlock", strings.Replace(block, "/56", "/64", 1))
				a.fails("InvalidParameterCombination", "RunInstances", l.request("NetworkInterface.1.Ipv6AddressCount", "1", "NetworkInterface.1.Ipv6PrefixCount", "1")...)
				id := a.run(l, "NetworkInterface.1.Ipv6AddressCount", "1")
				const of = instancePath + "networkInterfaceSet/item/"
				shown := a.do("DescribeInstances", "InstanceId.1", id)
				assert.Len(t, shown.texts(of+"ipv6AddressesSet/item/ipv6Address"), 1)
				eni := shown.text(of + "networkInterfaceId")
				for _, want := range []int{1, 2} {
					assigned := a.do("AssignIpv6Addresses", "NetworkInterfaceId", eni, "Ipv6PrefixCount", "1")
					assert.Len(t, assigned.texts("assignedIpv6PrefixSet/item"), 1)
					prefixes := a.do("DescribeInstances", "InstanceId.1", id).texts(of + "ipv6PrefixSet/item/ipv6Prefix")
					assert.Len(t, prefixes, want)
					assert.True(t, strings.HasSuffix(prefixes[0], "/80"), prefixes)
				}
				a.fails("InvalidParameterCombination", "AssignIpv6Addresses", "NetworkInterfaceId", eni)
			},
		},
		"an interface for EFA only has no address": {
			source: reference("InstanceNetworkInterfaceSpecification"),
			check: func(t *testing.T, a *account) {
				l := a.launchpad()
				id := a.run(l, "NetworkInterface.2.SubnetId", l.subnet, "NetworkInterface.2.SecurityGroupId.1", l.group, "NetworkInterface.2.DeviceIndex", "1",
					"NetworkInterface.2.NetworkCardIndex", "1", "NetworkInterface.2.InterfaceType", "efa-only")
				shown := a.do("DescribeInstances", "InstanceId.1", id)
				assert.Equal(t, []string{"interface", "efa-only"}, shown.texts(instancePath+"networkInterfaceSet/item/interfaceType"))
				assert.Len(t, shown.texts(instancePath+"networkInterfaceSet/item/privateIpAddress"), 1)
			},
		},
	})
}

func TestInstances_Refused(t *testing.T) {
	l := "https://docs.aws.amazon.com/ec2/latest/devguide/errors-overview.html"
	cases := map[string]struct {
		code   string
		prefix string // parameters replaced: those with this prefix are dropped
		more   []string
	}{
		"an image that does not exist":         {"InvalidAMIID.NotFound", "ImageId", []string{"ImageId", "ami-1"}},
		"a subnet that does not exist":         {"InvalidSubnetID.NotFound", "", []string{"NetworkInterface.1.SubnetId", "subnet-1"}},
		"a group that does not exist":          {"InvalidGroup.NotFound", "", []string{"NetworkInterface.1.SecurityGroupId.1", "sg-1"}},
		"a key pair that does not exist":       {"InvalidKeyPair.NotFound", "", []string{"KeyName", "other"}},
		"a profile that does not exist":        {"InvalidParameterValue", "", []string{"IamInstanceProfile.Name", "other"}},
		"a profile ARN that does not exist":    {"InvalidParameterValue", "IamInstanceProfile", []string{"IamInstanceProfile.Arn", "arn"}},
		"user data that is too long":           {"InvalidParameterValue", "", []string{"UserData", base64Of(strings.Repeat("x", 16385))}},
		"user data that is not encoded":        {"InvalidParameterValue", "", []string{"UserData", "#!"}},
		"an interface of an unknown type":      {"InvalidParameterValue", "", []string{"NetworkInterface.1.InterfaceType", "wifi"}},
		"a volume type without operations":     {"MissingParameter", "", []string{"BlockDeviceMapping.1.DeviceName", "/dev/xvda", "BlockDeviceMapping.1.Ebs.VolumeType", "io2"}},
		"a volume without a size":              {"MissingParameter", "", []string{"BlockDeviceMapping.1.DeviceName", "/dev/sdf", "BlockDeviceMapping.1.Ebs.VolumeType", "gp3"}},
		"operations of a type without them":    {"InvalidParameterCombination", "", []string{"BlockDeviceMapping.1.DeviceName", "/dev/xvda", "BlockDeviceMapping.1.Ebs.Iops", "9"}},
		"a key of a volume without encryption": {"InvalidParameterDependency", "", []string{"BlockDeviceMapping.1.DeviceName", "/dev/xvda", "BlockDeviceMapping.1.Ebs.KmsKeyId", "k"}},
		"two volumes of the same name": {"InvalidBlockDeviceMapping", "", []string{
			"BlockDeviceMapping.1.DeviceName", "/dev/xvda", "BlockDeviceMapping.1.Ebs.VolumeSize", "1",
			"BlockDeviceMapping.2.DeviceName", "/dev/xvda", "BlockDeviceMapping.2.Ebs.VolumeSize", "1",
		}},
		"tags of another kind": {"InvalidParameterValue", "", tags("vpc", "a", "b")},
		"several instances":    {"NotImplemented", "", []string{"MaxCount", "2"}},
	}
	behaviours := map[string]behaviour{}
	for sentence, test := range cases {
		behaviours[sentence] = behaviour{source: l, check: func(t *testing.T, a *account) {
			parameters := a.launchpad().request()
			var kept []string
			for i := 0; i < len(parameters); i += 2 {
				if test.prefix == "" || !strings.HasPrefix(parameters[i], test.prefix) {
					kept = append(kept, parameters[i], parameters[i+1])
				}
			}
			a.fails(test.code, "RunInstances", with(kept, test.more...)...)
			assert.Empty(t, a.do("DescribeInstances").texts(instancePath+"instanceId"))
		}}
	}
	testBehaviours(t, behaviours)
}

func TestInstances_Limits(t *testing.T) {
	const source = "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/troubleshooting-launch.html"
	for sentence, test := range map[string]struct {
		quota string
		limit int
		code  string
	}{
		"the quota of instances":      {fake.QuotaInstances, 1, "InstanceLimitExceeded"},
		"the quota of vCPUs":          {fake.QuotaVCPUs, 3, "VcpuLimitExceeded"},
		"the hardware of a zone":      {fake.QuotaCapacity("eu-west-1a"), 1, "InsufficientInstanceCapacity"},
		"the addresses of the subnet": {"", 11, "InsufficientFreeAddressesInSubnet"},
	} {
		testBehaviours(t, map[string]behaviour{sentence: {source: source, check: func(_ *testing.T, a *account) {
			l := a.launchpad()
			if test.quota != "" {
				a.SetQuota(test.quota, test.limit)
			} else {
				l.subnet = a.subnet(l.vpc, "10.250.9.0/28")
				for range test.limit - 1 {
					a.run(l)
				}
			}
			id := a.run(l)
			a.fails(test.code, "RunInstances", l.request()...)
			a.do("TerminateInstances", "InstanceId.1", id)
			a.run(l)
		}}})
	}
}

func TestInstances_Profile(t *testing.T) {
	testBehaviours(t, map[string]behaviour{"EC2 sees a new instance profile late": {
		source: "https://docs.aws.amazon.com/IAM/latest/UserGuide/troubleshoot.html#troubleshoot_general_eventual-consistency",
		check: func(_ *testing.T, a *account) {
			l := a.launchpad()
			a.SetLag(fake.Lag{Reads: 1})
			a.do("iam:CreateInstanceProfile", "InstanceProfileName", "new")
			a.fails("InvalidParameterValue", "RunInstances", l.request("IamInstanceProfile.Name", "new")...)
			a.run(l, "IamInstanceProfile.Name", "new")
		},
	}})
}

func TestInstances_Pages(t *testing.T) {
	a := newAccount(t)
	l := a.launchpad()
	var ids []string
	for range 12 {
		ids = append(ids, a.run(l))
	}
	found, parameters, pages := []string{}, []string{"MaxResults", "5"}, 0
	for {
		page := a.do("DescribeInstances", parameters...)
		found, pages = append(found, page.texts(instancePath+"instanceId")...), pages+1
		token := page.text("nextToken")
		if token == "" {
			break
		}
		parameters = []string{"MaxResults", "5", "NextToken", token}
	}
	assert.Equal(t, ids, found)
	assert.Equal(t, 3, pages)
	running := a.do("DescribeInstances", with(filter(1, "instance-state-name", "pending", "running"), filter(2, "private-ip-address", "10.250.0.5")...)...)
	assert.Equal(t, ids[1:2], running.texts(instancePath+"instanceId"))
	assert.Equal(t, "/dev/xvda", a.do("DescribeImages", "ImageId.1", l.image).text("imagesSet/item/rootDeviceName"))
	a.fails("InvalidAMIID.NotFound", "DescribeImages", "ImageId.1", "ami-1")
	assert.Len(t, a.Resources(), 12*3+5, a.Resources())
}
