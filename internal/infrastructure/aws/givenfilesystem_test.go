package aws

import (
	"net/url"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	awsv1alpha1 "github.com/trellis-garden/trellis/apis/aws/v1alpha1"
	"github.com/trellis-garden/trellis/internal/cloud"
	"github.com/trellis-garden/trellis/internal/cloud/aws/fake"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

// giveFileSystem makes a file system of the user, and returns its ID.
func (env *environment) giveFileSystem() string {
	id := env.efs("CreateFileSystem", "CreationToken", "given").String("FileSystemId")
	env.config.ElasticFileSystem = &awsv1alpha1.ElasticFileSystemConfig{Enabled: true, ID: &id}
	return id
}

// The user's file system gets mount targets, and stays.
func TestDriver_GivenFileSystem(t *testing.T) {
	env := newEnvironment(t)
	id := env.giveFileSystem()
	env.mustReconcile()
	assert.Equal(t, id, statusID(t, env))
	assert.Len(t, env.mountTargets(id), 1)
	assert.Empty(t, env.efs("ListTagsForResource", "ResourceId", id).Structs("Tags"), "it is not changed")
	env.infra.Status.State = nil
	require.NoError(t, env.delete())
	assert.Equal(t, []string{id}, env.cloud.Resources())
}

// The shoot's own file system is deleted once the user gives one, as upstream's driver does.
func TestDriver_FileSystemIsGivenLater(t *testing.T) {
	for sentence, before := range map[string]func(env *environment){
		"it is recorded":    func(*environment) {},
		"the state is lost": func(env *environment) { env.infra.Status.State = nil },
	} {
		t.Run(sentence, func(t *testing.T) {
			env := newFileSystemEnvironment(t)
			env.mustReconcile()
			own := env.recorded(awsv1alpha1.StateKeyElasticFileSystem)
			id := env.giveFileSystem()
			before(env)
			env.calls()
			env.mustReconcile()
			assert.Equal(t, []string{"CreateMountTarget", "DeleteFileSystem", "DeleteMountTarget"}, env.writes())
			assert.Equal(t, id, env.recorded(awsv1alpha1.StateKeyElasticFileSystem))
			for key := range mustState(t, env).Data {
				assert.NotContains(t, key, own)
			}
			env.mustReconcile()
			assert.Empty(t, env.writes())
			require.NoError(t, env.delete())
			assert.Equal(t, []string{id}, env.cloud.Resources())
		})
	}
	t.Run("the shoot is deleted before", func(t *testing.T) {
		env := newFileSystemEnvironment(t)
		env.mustReconcile()
		id := env.giveFileSystem()
		require.NoError(t, env.delete())
		assert.Equal(t, []string{id}, env.cloud.Resources())
	})
	t.Run("the user gives the shoot's own", func(t *testing.T) {
		env := newFileSystemEnvironment(t)
		env.mustReconcile()
		own := env.recorded(awsv1alpha1.StateKeyElasticFileSystem)
		env.config.ElasticFileSystem.ID = &own
		env.calls()
		env.mustReconcile()
		assert.Empty(t, env.writes())
		require.NoError(t, env.delete())
		assert.Equal(t, []string{own}, env.cloud.Resources(), "it is the user's now")
	})
}

func mustState(t *testing.T, env *environment) *awsv1alpha1.InfrastructureState {
	t.Helper()
	recorded, err := awsv1alpha1.DecodeInfrastructureState(env.infra.Status.State)
	require.NoError(t, err)
	return recorded
}

// In subnets of the user, mount targets have no security group of the shoot, and those of the user stay.
func TestDriver_FileSystemInGivenSubnets(t *testing.T) {
	for sentence, test := range map[string]struct {
		hasTarget bool
		writes    []string
	}{
		"without a mount target": {false, []string{"CreateMountTarget"}},
		"with a mount target":    {true, []string{}},
	} {
		t.Run(sentence, func(t *testing.T) {
			g := newGivenVPC(t)
			nodes := g.subnet("a", "10.250.0.0/19")
			g.env.config.Networks.Zones = []awsv1alpha1.Zone{{Name: fake.DefaultRegion + "a", WorkersSubnetID: &nodes}}
			id := g.env.giveFileSystem()
			if test.hasTarget {
				g.env.efs("CreateMountTarget", "FileSystemId", id, "SubnetId", nodes)
			}
			before := g.env.cloud.Resources()
			g.env.mustReconcile()
			assert.Equal(t, test.writes, only(g.env.writes(), "MountTarget"))
			assert.NotEmpty(t, g.env.recorded("efsMountTargets/"+id+"_"+nodes), "as upstream's")
			g.env.mustReconcile()
			assert.Empty(t, g.env.writes())
			require.NoError(t, g.env.delete())
			assert.Equal(t, before, g.env.cloud.Resources())
		})
	}
	t.Run("the response is lost, and the process ends", func(t *testing.T) {
		g := newGivenVPC(t)
		nodes := g.subnet("a", "10.250.0.0/19")
		g.env.config.Networks.Zones = []awsv1alpha1.Zone{{Name: fake.DefaultRegion + "a", WorkersSubnetID: &nodes}}
		g.env.giveFileSystem()
		before := g.env.cloud.Resources()
		g.env.cloud.Inject(wire.Fault{Match: wire.Match{Path: "CreateMountTarget"}, Times: 9, Drop: wire.DropAfter})
		_, err := g.env.reconcile()
		require.Error(t, err)
		g.env.cloud.ClearFaults()
		g.env.restart()
		g.env.mustReconcile()
		require.NoError(t, g.env.delete())
		assert.Equal(t, before, g.env.cloud.Resources(), "the mount target was the shoot's")
	})
}

func TestDriver_InvalidFileSystem(t *testing.T) {
	for sentence, test := range map[string]struct {
		give func(env *environment)
		want string
	}{
		"it does not exist": {
			func(env *environment) {
				env.config.ElasticFileSystem = &awsv1alpha1.ElasticFileSystemConfig{Enabled: true, ID: new("fs-01234567")}
			}, "elasticFileSystem.id: there is no elastic file system fs-01234567 in region eu-west-1",
		},
		"it is used in another VPC": {
			func(env *environment) {
				id := env.giveFileSystem()
				vpc := givenVPCOf(env, "10.251.0.0/16", "example.com")
				subnet, err := env.cloud.Do(fake.EC2, "CreateSubnet", url.Values{"VpcId": {vpc}, "CidrBlock": {"10.251.0.0/24"}})
				require.NoError(env.t, err)
				env.efs("CreateMountTarget", "FileSystemId", id, "SubnetId", subnet.Struct("Subnet").String("SubnetId"))
			}, "and cannot have others in the shoot's VPC",
		},
		"it has failed": {
			func(env *environment) {
				env.cloud.SetTransition(fake.FileSystemCreate, fake.Transition{Fail: true})
				env.giveFileSystem()
			}, `is in the state "error"`,
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			env := newEnvironment(t)
			test.give(env)
			before := env.cloud.Resources()
			_, err := env.reconcile()
			require.ErrorContains(t, err, test.want)
			assert.Equal(t, cloud.Configuration, cloud.KindOf(err))
			assert.Equal(t, before, env.cloud.Resources(), "nothing was created")
			require.NoError(t, env.delete())
			assert.Equal(t, before, env.cloud.Resources())
		})
	}
}
