package infrastructuresuite

import (
	"fmt"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/stretchr/testify/assert"

	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/e2e/internal/testenv"
)

// missingID is an ID without a resource.
const missingID = "11111111-1111-1111-1111-111111111111"

// testExisting lets users supply parts of the infrastructure. They are used and not changed; unusable ones are named in the error.
func testExisting(t *testing.T, f *testenv.Fixture) {
	testExistingUsed(t, f)
	testExistingVerified(t, f)
}

func testExistingUsed(t *testing.T, f *testenv.Fixture) {
	given := map[string]struct {
		// give creates the parts, and returns their paths in the order in which they can be removed.
		give func(*testenv.Env, *openstackv1alpha1.Networks) []string
		// makes is what the controller adds.
		makes map[string]int
	}{
		"a router": {
			give: func(env *testenv.Env, networks *openstackv1alpha1.Networks) []string {
				networks.Router = &openstackv1alpha1.Router{ID: makeRouter(env, "theirs")}
				return []string{routers + "/" + networks.Router.ID}
			},
			makes: map[string]int{"network": 1, "subnet": 1, "port": 1, "security group": 1, "security group rule": 5, "key pair": 1},
		},
		"a network": {
			give: func(env *testenv.Env, given *openstackv1alpha1.Networks) []string {
				given.ID = new(makeNetwork(env, "theirs"))
				return []string{networks + "/" + *given.ID}
			},
			makes: map[string]int{"subnet": 1, "router": 1, "port": 1, "security group": 1, "security group rule": 5, "key pair": 1},
		},
		"a network with its subnet": {
			give: func(env *testenv.Env, given *openstackv1alpha1.Networks) []string {
				given.ID, given.Workers = new(makeNetwork(env, "theirs")), ""
				given.SubnetID = new(makeSubnet(env, "theirs", *given.ID, "10.250.64.0/20", nil))
				return []string{subnets + "/" + *given.SubnetID, networks + "/" + *given.ID}
			},
			makes: map[string]int{"router": 1, "port": 1, "security group": 1, "security group rule": 5, "key pair": 1},
		},
		"a security group": {
			give: func(env *testenv.Env, given *openstackv1alpha1.Networks) []string {
				given.SecurityGroupID = new(makeGroup(env, "theirs", "a user's"))
				return []string{securityGroups + "/" + *given.SecurityGroupID}
			},
			makes: map[string]int{"network": 1, "subnet": 1, "router": 1, "port": 1, "key pair": 1},
		},
	}
	names := 0
	for description, c := range given {
		names++
		name := fmt.Sprintf("given-%d", names)
		t.Run(description+" is used and stays", func(t *testing.T) {
			env := f.NewEnv(t)
			env.StartController()
			var paths []string
			shoot := env.Shoot(name)
			shoot.InfrastructureConfig = env.Config(func(config *openstackv1alpha1.InfrastructureConfig) {
				paths = c.give(env, &config.Networks)
			})
			env.Update(shoot)
			inventory, before, were := env.Inventory(), stableResources(env), env.CountByKind()

			env.Reconcile(shoot)
			made := env.CountByKind()
			for kind, count := range were {
				made[kind] -= count
				if made[kind] == 0 {
					delete(made, kind)
				}
			}
			assert.Equal(t, c.makes, made)
			assertStays(env, before)
			env.Cloud.ResetLog()
			env.ReconcileAgain(shoot)
			assertNothingWritten(env)

			env.Destroy(shoot)
			assert.Equal(t, inventory, env.Inventory(), "the user's parts, and nothing else")
			assertStays(env, before)
			remove(env, paths...)
		})
	}
}

func testExistingVerified(t *testing.T, f *testenv.Fixture) {
	env := f.NewEnv(t)
	env.StartController()
	theirs, another := makeNetwork(env, "theirs"), makeNetwork(env, "another")
	subnet := makeSubnet(env, "theirs", theirs, "10.250.64.0/20", nil)
	before := env.Inventory()
	names := 0
	for description, c := range map[string]struct {
		networks openstackv1alpha1.Networks
		wantText []string
		// makes are parts that the controller may have created before.
		makes bool
	}{
		"a router that does not exist": {
			openstackv1alpha1.Networks{Workers: "10.250.0.0/19", Router: &openstackv1alpha1.Router{ID: missingID}},
			[]string{"networks.router.id", missingID},
			false,
		},
		"a network that does not exist": {
			openstackv1alpha1.Networks{Workers: "10.250.0.0/19", ID: new(missingID)}, []string{"networks.id", missingID}, false,
		},
		"a network that is external": {
			openstackv1alpha1.Networks{Workers: "10.250.0.0/19", ID: new(env.ExternalNetwork())}, []string{"networks.id", "external network"}, true,
		},
		"a subnet that does not exist": {
			openstackv1alpha1.Networks{ID: &theirs, SubnetID: new(missingID)}, []string{"networks.subnetId", missingID}, false,
		},
		"a subnet of another network": {
			openstackv1alpha1.Networks{ID: &another, SubnetID: &subnet}, []string{"networks.subnetId", subnet, another}, true,
		},
		"a security group that does not exist": {
			openstackv1alpha1.Networks{Workers: "10.250.0.0/19", SecurityGroupID: new(missingID)}, []string{"networks.securityGroupId", missingID}, false,
		},
	} {
		names++
		name := fmt.Sprintf("refused-%d", names)
		t.Run(description+" is named", func(t *testing.T) {
			env := env.WithT(t)
			shoot := env.Shoot(name)
			shoot.InfrastructureConfig = env.Config(func(config *openstackv1alpha1.InfrastructureConfig) { config.Networks = c.networks })
			env.Update(shoot)
			env.RequestReconcile(shoot)
			reported := env.WaitForError(shoot).Status.LastError
			t.Log(reported.Description)
			for _, part := range c.wantText {
				assert.Contains(t, reported.Description, part)
			}
			assert.Equal(t, []gardencorev1beta1.ErrorCode{gardencorev1beta1.ErrorConfigurationProblem}, reported.Codes)
			if !c.makes {
				assert.Equal(t, before, env.Inventory(), "nothing is made before that is found out")
			}
			env.Destroy(shoot)
			assert.Equal(t, before, env.Inventory())
		})
	}
	remove(env, subnets+"/"+subnet, networks+"/"+theirs, networks+"/"+another)
}
