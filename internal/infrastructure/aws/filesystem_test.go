package aws

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	awsv1alpha1 "github.com/trellis-garden/trellis/apis/aws/v1alpha1"
	"github.com/trellis-garden/trellis/internal/cloud/aws/fake"
	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/protocol"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

// newFileSystemEnvironment is a shoot with an elastic file system of its own.
func newFileSystemEnvironment(t *testing.T, options ...fake.Option) *environment {
	t.Helper()
	env := newEnvironment(t, options...)
	env.config.ElasticFileSystem = &awsv1alpha1.ElasticFileSystemConfig{Enabled: true}
	return env
}

// efs makes a call to EFS as somebody else.
func (env *environment) efs(action string, parameters ...string) protocol.Struct {
	env.t.Helper()
	form := url.Values{}
	for i := 0; i < len(parameters); i += 2 {
		form.Set(parameters[i], parameters[i+1])
	}
	out, err := env.cloud.Do(fake.EFS, action, form)
	require.NoError(env.t, err)
	return out
}

func (env *environment) mountTargets(fileSystemID string) []protocol.Struct {
	env.t.Helper()
	return env.efs("DescribeMountTargets", "FileSystemId", fileSystemID).Structs("MountTargets")
}

func (env *environment) ofZone(letter, key string) string {
	return env.recorded(awsv1alpha1.ZoneStateKey(fake.DefaultRegion+letter, key))
}

func statusID(t *testing.T, env *environment) string {
	t.Helper()
	status, err := awsv1alpha1.DecodeInfrastructureStatus(env.infra.Status.ProviderStatus)
	require.NoError(t, err)
	return status.ElasticFileSystem.ID
}

func TestDriver_FileSystem(t *testing.T) {
	env := newFileSystemEnvironment(t)
	env.addZone("b", "10.250.32.0/19", "10.250.100.0/22", "10.250.116.0/22")
	outcome := env.mustReconcile()
	id, group := env.recorded(awsv1alpha1.StateKeyElasticFileSystem), env.recorded(awsv1alpha1.StateKeyNodesSecurityGroup)
	assert.Equal(t, id, statusID(t, env))
	system := env.efs("DescribeFileSystems", "FileSystemId", id).Structs("FileSystems")[0]
	assert.Equal(t, shootUID, system.String("CreationToken"), "as upstream's")
	assert.True(t, system.Bool("Encrypted"))
	tags := map[string]string{}
	for _, tag := range system.Structs("Tags") {
		tags[tag.String("Key")] = tag.String("Value")
	}
	assert.Equal(t, map[string]string{"Name": technicalID, tagClusterPrefix + technicalID: "owned", "managed-by-gardener": "true"}, tags)

	targets := env.mountTargets(id)
	require.Len(t, targets, 2)
	for _, target := range targets {
		letter := strings.TrimPrefix(target.String("AvailabilityZoneName"), fake.DefaultRegion)
		subnet := env.ofZone(letter, awsv1alpha1.ZoneKeySubnetWorkers)
		assert.Equal(t, subnet, target.String("SubnetId"))
		assert.Equal(t, target.String("MountTargetId"), env.recorded("efsMountTargets/"+id+"_"+subnet+"_"+group), "as upstream's")
		assert.Equal(t, []string{group}, env.efs("DescribeMountTargetSecurityGroups", "MountTargetId", target.String("MountTargetId")).Strings("SecurityGroups"))
	}
	described, err := env.cloud.Do(fake.EC2, "DescribeTags", url.Values{"Filter.1.Name": {"key"}, "Filter.1.Value.1": {"managed-by-gardener"}})
	require.NoError(t, err)
	assert.Empty(t, described.Structs("Tags"), "no other resource gets the tag")
	rules := env.rulesOfNodes()
	for _, cidr := range []string{"10.250.0.0/19", "10.250.32.0/19"} {
		assert.Contains(t, rules, "tcp 2049 "+cidr)
	}
	policy, err := env.cloud.Do(fake.IAM, "GetRolePolicy", url.Values{"RoleName": {technicalID + "-nodes"}, "PolicyName": {technicalID + "-nodes"}})
	require.NoError(t, err)
	document, err := url.PathUnescape(policy.String("PolicyDocument"))
	require.NoError(t, err)
	assert.Contains(t, document, "elasticfilesystem:CreateAccessPoint")

	env.calls()
	assert.Equal(t, outcome, env.mustReconcile())
	assert.Empty(t, env.writes())
	require.NoError(t, env.delete())
	assert.Empty(t, env.cloud.Resources())
}

// rulesOfNodes are the rules that let single ports in.
func (env *environment) rulesOfNodes() []string {
	env.t.Helper()
	found, err := env.cloud.Do(fake.EC2, "DescribeSecurityGroups", url.Values{"GroupId.1": {env.recorded(awsv1alpha1.StateKeyNodesSecurityGroup)}})
	require.NoError(env.t, err)
	var rules []string
	for _, permission := range found.Structs("SecurityGroups")[0].Structs("IpPermissions") {
		for _, peer := range permission.Structs("IpRanges") {
			if permission.Int("FromPort") == filePort && permission.Int("ToPort") == filePort {
				rules = append(rules, permission.String("IpProtocol")+" 2049 "+peer.String("CidrIp"))
			}
		}
	}
	return rules
}

func TestDriver_FileSystemChanges(t *testing.T) {
	system := func(env *environment) string { return env.recorded(awsv1alpha1.StateKeyElasticFileSystem) }
	target := func(env *environment) string { return env.mountTargets(system(env))[0].String("MountTargetId") }
	for sentence, test := range map[string]struct {
		change func(env *environment)
		writes []string
	}{
		"somebody tagged the file system": {
			func(env *environment) {
				env.efs("TagResource", "ResourceId", system(env), "Tags.member.1.Key", "x", "Tags.member.1.Value", "y")
			}, []string{"UntagResource"},
		},
		"somebody removed its tag": {
			func(env *environment) {
				env.efs("UntagResource", "ResourceId", system(env), "tagKeys.member.1", "Name")
			}, []string{"TagResource"},
		},
		"somebody deleted a mount target": {
			func(env *environment) { env.efs("DeleteMountTarget", "MountTargetId", target(env)) }, []string{"CreateMountTarget"},
		},
		"somebody deleted the file system": {
			func(env *environment) {
				env.efs("DeleteMountTarget", "MountTargetId", target(env))
				env.efs("DeleteFileSystem", "FileSystemId", system(env))
				env.restart() // a session that has created it just now takes it for invisible
			}, []string{"CreateFileSystem", "CreateMountTarget"},
		},
		"the state is lost": {func(env *environment) { env.infra.Status.State = nil }, []string{}},
		"the state is lost, and a mount target has another group": {
			func(env *environment) {
				env.efs("ModifyMountTargetSecurityGroups", "MountTargetId", target(env))
				env.infra.Status.State = nil
			}, []string{"ModifyMountTargetSecurityGroups"},
		},
		"upstream's driver has reconciled": {
			func(env *environment) {
				recorded, err := awsv1alpha1.DecodeInfrastructureState(env.infra.Status.State)
				require.NoError(env.t, err)
				for key := range recorded.Data {
					if strings.HasPrefix(key, awsv1alpha1.StateKeyPrefix) {
						delete(recorded.Data, key)
					}
				}
				env.save(recorded)
			}, []string{},
		},
		"the user adds a zone": {
			func(env *environment) { env.addZone("b", "10.250.32.0/19", "10.250.100.0/22", "10.250.116.0/22") },
			[]string{
				"AllocateAddress", "AssociateRouteTable", "AssociateRouteTable", "AssociateRouteTable", "AuthorizeSecurityGroupIngress", "CreateMountTarget",
				"CreateNatGateway", "CreateRoute", "CreateRouteTable", "CreateSubnet", "CreateSubnet", "CreateSubnet",
			},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			env := newFileSystemEnvironment(t)
			env.mustReconcile()
			test.change(env)
			env.setClock(2 * env.driver.options.VisibleAfter)
			env.calls()
			env.mustReconcile()
			assert.Equal(t, test.writes, env.writes())
			env.mustReconcile()
			noop := env.calls()
			assert.Equal(t, []string{"DescribeFileSystems", "DescribeMountTargets"}, only(noop, "FileSystem", "MountTarget"), "afterwards, nothing is written again")
			require.NoError(t, env.delete())
			assert.Empty(t, env.cloud.Resources())
		})
	}
}

// only returns the calls that contain one of the words.
func only(calls []string, words ...string) []string {
	return slices.DeleteFunc(calls, func(call string) bool {
		return !slices.ContainsFunc(words, func(word string) bool { return strings.Contains(call, word) })
	})
}

// A file system and its mount targets take minutes to begin and to end, and are visible late.
func TestDriver_FileSystemTakesTime(t *testing.T) {
	env := newFileSystemEnvironment(t, fake.WithLag(fake.Lag{Reads: 1}))
	for _, kind := range []string{fake.FileSystemCreate, fake.FileSystemDelete, fake.MountTargetCreate, fake.MountTargetDelete} {
		env.cloud.SetTransition(kind, fake.Transition{Reads: 1})
	}
	env.mustReconcile()
	for _, target := range env.mountTargets(env.recorded(awsv1alpha1.StateKeyElasticFileSystem)) {
		assert.Equal(t, "available", target.String("LifeCycleState"))
	}
	require.NoError(t, env.delete())
	assert.Empty(t, env.cloud.Resources())
}

func TestDriver_FileSystemFails(t *testing.T) {
	env := newFileSystemEnvironment(t, fake.WithTransition(fake.MountTargetCreate, fake.Transition{Fail: true}))
	_, err := env.reconcile()
	require.ErrorContains(t, err, "has failed and was deleted; the next reconciliation creates another one")
	env.cloud.SetTransition(fake.MountTargetCreate, fake.Transition{})
	env.setClock(2 * env.driver.options.VisibleAfter)
	env.mustReconcile()
	require.NoError(t, env.delete())

	env = newFileSystemEnvironment(t, fake.WithTransition(fake.FileSystemCreate, fake.Transition{Fail: true}))
	_, err = env.reconcile()
	require.ErrorContains(t, err, `is in the state "error"; delete it, and the next reconciliation creates another one`)
	require.NoError(t, env.delete())
	assert.Empty(t, env.cloud.Resources())
}

// Responses of creations are lost, and the process ends: the next one finds what there is.
func TestDriver_FileSystemResponseLost(t *testing.T) {
	for _, action := range []string{"CreateFileSystem", "CreateMountTarget"} {
		t.Run(action, func(t *testing.T) {
			env := newFileSystemEnvironment(t)
			env.cloud.Inject(wire.Fault{Match: wire.Match{Service: fake.EFS, Path: action}, Drop: wire.DropAfter})
			env.mustReconcile()
			assert.Len(t, env.mountTargets(env.recorded(awsv1alpha1.StateKeyElasticFileSystem)), 1)
			require.NoError(t, env.delete())
			assert.Empty(t, env.cloud.Resources())
		})
		t.Run(action+", and the state too", func(t *testing.T) {
			env := newFileSystemEnvironment(t)
			env.cloud.Inject(wire.Fault{Match: wire.Match{Service: fake.EFS, Path: action}, Times: 9, Drop: wire.DropAfter})
			_, err := env.reconcile()
			require.Error(t, err)
			env.cloud.ClearFaults()
			env.infra.Status.State = nil
			require.NoError(t, env.delete())
			assert.Empty(t, env.cloud.Resources())
		})
	}
}

func TestDriver_FileSystemFamilies(t *testing.T) {
	ipv4, ipv6 := gardencorev1beta1.IPFamilyIPv4, gardencorev1beta1.IPFamilyIPv6
	for sentence, test := range map[string]struct {
		families []gardencorev1beta1.IPFamily
		want     string
	}{
		"with IPv4 nothing is said": {[]gardencorev1beta1.IPFamily{ipv4}, ""},
		"with both families":        {[]gardencorev1beta1.IPFamily{ipv4, ipv6}, "DUAL_STACK"},
		"without IPv4":              {[]gardencorev1beta1.IPFamily{ipv6}, "IPV6_ONLY"},
	} {
		t.Run(sentence, func(t *testing.T) {
			env := newFileSystemEnvironment(t)
			env.families = test.families
			env.mustReconcile()
			for _, call := range env.cloud.Log() {
				if call.Path == "CreateMountTarget" {
					parameters, err := url.ParseQuery(call.Query)
					require.NoError(t, err)
					assert.Equal(t, test.want, parameters.Get("IpAddressType"))
				}
			}
			require.NoError(t, env.delete())
			assert.Empty(t, env.cloud.Resources())
		})
	}
}
