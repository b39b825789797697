package fake_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/trellis-garden/trellis/internal/cloud/aws/fake"
)

func TestMountTargets(t *testing.T) {
	testBehaviours(t, map[string]behaviour{
		"a mount target has a network interface, which holds subnet, groups and file system": {
			source: efsReference("CreateMountTarget") + ", DeleteMountTarget, DeleteFileSystem",
			check: func(t *testing.T, a *account) {
				v := a.vpc()
				system, subnet, group := a.fileSystem("shoot"), a.subnet(v, "10.250.0.0/24"), a.group(v, "nodes")
				created := a.efs(http.MethodPost, "/mount-targets",
					`{"FileSystemId": "`+system+`", "SubnetId": "`+subnet+`", "SecurityGroups": ["`+group+`"], "IpAddressType": "IPV4_ONLY"}`).body
				id := created["MountTargetId"].(string)
				assert.Equal(t, []any{v, "eu-west-1a", "available", "10.250.0.4"},
					[]any{created["VpcId"], created["AvailabilityZoneName"], created["LifeCycleState"], created["IpAddress"]})
				shown := a.do("DescribeNetworkInterfaces", filter(1, "subnet-id", subnet)...)
				assert.Equal(t, "Mount target "+id+" for file system "+system, shown.text("networkInterfaceSet/item/description"))
				assert.Equal(t, "EFS", shown.text("networkInterfaceSet/item/requesterId"))
				assert.Equal(t, created["NetworkInterfaceId"], shown.text("networkInterfaceSet/item/networkInterfaceId"))
				a.fails("DependencyViolation", "DeleteSubnet", "SubnetId", subnet)
				a.fails("DependencyViolation", "DeleteSecurityGroup", "GroupId", group)
				assert.Equal(t, http.StatusConflict, a.failsEFS("FileSystemInUse", http.MethodDelete, "/file-systems/"+system, "").status)
				a.efs(http.MethodDelete, "/mount-targets/"+id, "")
				a.do("DeleteSubnet", "SubnetId", subnet)
				a.do("DeleteSecurityGroup", "GroupId", group)
				a.efs(http.MethodDelete, "/file-systems/"+system, "")
				a.failsEFS("MountTargetNotFound", http.MethodDelete, "/mount-targets/"+id, "")
				assert.Equal(t, []string{v}, a.Resources())
			},
		},
		"a file system has one mount target in each zone, all in one VPC": {
			source: efsReference("CreateMountTarget"),
			check: func(t *testing.T, a *account) {
				v, system := a.vpc(), a.fileSystem("shoot")
				a.mountTarget(system, a.subnet(v, "10.250.0.0/24"))
				same := a.subnet(v, "10.250.1.0/24")
				a.failsEFS("MountTargetConflict", http.MethodPost, "/mount-targets", targetOf(system, same))
				a.failsEFS("MountTargetConflict", http.MethodPost, "/mount-targets", targetOf(system, a.subnet(a.vpc(), "10.250.0.0/24")))
				other := a.do("CreateSubnet", "VpcId", v, "CidrBlock", "10.250.2.0/24", "AvailabilityZone", "eu-west-1b").text("subnet/subnetId")
				a.mountTarget(system, other)
				a.mountTarget(a.fileSystem("second"), same)
				assert.Equal(t, []any{"eu-west-1a", "eu-west-1b"}, a.efs(http.MethodGet, "/mount-targets?FileSystemId="+system, "").list("MountTargets", "AvailabilityZoneName"))
			},
		},
		"mount targets are described by one ID": {
			source: efsReference("DescribeMountTargets"),
			check: func(t *testing.T, a *account) {
				system := a.fileSystem("shoot")
				id := a.mountTarget(system, a.subnet(a.vpc(), "10.250.0.0/24")).body["MountTargetId"].(string)
				assert.Equal(t, []any{id}, a.efs(http.MethodGet, "/mount-targets?MountTargetId="+id, "").list("MountTargets", "MountTargetId"))
				a.failsEFS("BadRequest", http.MethodGet, "/mount-targets", "")
				a.failsEFS("BadRequest", http.MethodGet, "/mount-targets?MountTargetId="+id+"&FileSystemId="+system, "")
				a.failsEFS("MountTargetNotFound", http.MethodGet, "/mount-targets?MountTargetId=fsmt-01234567", "")
				a.failsEFS("FileSystemNotFound", http.MethodGet, "/mount-targets?FileSystemId=fs-01234567", "")
			},
		},
		"what does not exist is refused": {
			source: efsReference("CreateMountTarget"),
			check: func(_ *testing.T, a *account) {
				system, subnet := a.fileSystem("shoot"), a.subnet(a.vpc(), "10.250.0.0/24")
				a.failsEFS("FileSystemNotFound", http.MethodPost, "/mount-targets", targetOf("fs-01234567", subnet))
				a.failsEFS("SubnetNotFound", http.MethodPost, "/mount-targets", targetOf(system, "subnet-0123456789abcdef0"))
				a.failsEFS("SecurityGroupNotFound", http.MethodPost, "/mount-targets",
					`{"FileSystemId": "`+system+`", "SubnetId": "`+subnet+`", "SecurityGroups": ["sg-0123456789abcdef0"]}`)
				a.failsEFS("SecurityGroupLimitExceeded", http.MethodPost, "/mount-targets",
					`{"FileSystemId": "`+system+`", "SubnetId": "`+subnet+`", "SecurityGroups": [`+strings.Repeat(`"sg-0123456789abcdef0",`, 5)+`"sg-0123456789abcdef1"]}`)
			},
		},
		"without groups a mount target has the default one, and groups can be replaced": {
			source: efsReference("CreateMountTarget") + ", ModifyMountTargetSecurityGroups",
			check: func(t *testing.T, a *account) {
				v := a.vpc()
				id := a.mountTarget(a.fileSystem("shoot"), a.subnet(v, "10.250.0.0/24")).body["MountTargetId"].(string)
				groups := func() any {
					return a.efs(http.MethodGet, "/mount-targets/"+id+"/security-groups", "").body["SecurityGroups"]
				}
				byDefault := a.do("DescribeSecurityGroups", filter(1, "group-name", "default")...).text("securityGroupInfo/item/groupId")
				assert.Equal(t, []any{byDefault}, groups())
				group := a.group(v, "nodes")
				a.efs(http.MethodPut, "/mount-targets/"+id+"/security-groups", `{"SecurityGroups": ["`+group+`"]}`)
				assert.Equal(t, []any{group}, groups())
				a.failsEFS("SecurityGroupNotFound", http.MethodPut, "/mount-targets/"+id+"/security-groups", `{"SecurityGroups": ["sg-0123456789abcdef0"]}`)
				a.failsEFS("MountTargetNotFound", http.MethodGet, "/mount-targets/fsmt-01234567/security-groups", "")
			},
		},
		"a deleted mount target holds its file system and subnet for a time": {
			source: efsReference("DeleteMountTarget"),
			options: []fake.Option{
				fake.WithTransition(fake.MountTargetCreate, fake.Transition{Reads: 1}), fake.WithTransition(fake.MountTargetDelete, fake.Transition{Reads: 1}),
			},
			check: func(t *testing.T, a *account) {
				system, subnet := a.fileSystem("shoot"), a.subnet(a.vpc(), "10.250.0.0/24")
				created := a.mountTarget(system, subnet)
				states := func() []any {
					return a.efs(http.MethodGet, "/mount-targets?FileSystemId="+system, "").list("MountTargets", "LifeCycleState")
				}
				assert.Equal(t, "creating", created.body["LifeCycleState"])
				assert.Equal(t, []any{"creating"}, states())
				assert.Equal(t, []any{"available"}, states())
				a.efs(http.MethodDelete, "/mount-targets/"+created.body["MountTargetId"].(string), "")
				a.failsEFS("FileSystemInUse", http.MethodDelete, "/file-systems/"+system, "")
				a.fails("DependencyViolation", "DeleteSubnet", "SubnetId", subnet)
				a.failsEFS("IncorrectMountTargetState", http.MethodGet, "/mount-targets/"+created.body["MountTargetId"].(string)+"/security-groups", "")
				assert.Equal(t, []any{"deleting"}, states())
				assert.Empty(t, states())
				a.do("DeleteSubnet", "SubnetId", subnet)
			},
		},
	})
}
