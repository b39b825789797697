package infrastructuresuite

import (
	"fmt"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/stretchr/testify/assert"

	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/e2e/internal/rig"
)

// nobody is an ID that nothing has.
const nobody = "11111111-1111-1111-1111-111111111111"

// testGiven lets users give parts of the infrastructure themselves. They are used, and stay as they are; whatever cannot be
// used is named.
func testGiven(t *testing.T, r *rig.Rig) {
	testGivenIsUsed(t, r)
	testGivenIsVerified(t, r)
}

func testGivenIsUsed(t *testing.T, r *rig.Rig) {
	given := map[string]struct {
		// give makes the parts, and returns their paths in the order in which they can be removed.
		give func(*rig.World, *openstackv1alpha1.Networks) []string
		// makes is what the controller adds.
		makes map[string]int
	}{
		"a router": {
			give: func(w *rig.World, networks *openstackv1alpha1.Networks) []string {
				networks.Router = &openstackv1alpha1.Router{ID: makeRouter(w, "theirs")}
				return []string{routers + "/" + networks.Router.ID}
			},
			makes: map[string]int{"network": 1, "subnet": 1, "port": 1, "security group": 1, "security group rule": 5, "key pair": 1},
		},
		"a network": {
			give: func(w *rig.World, given *openstackv1alpha1.Networks) []string {
				given.ID = new(makeNetwork(w, "theirs"))
				return []string{networks + "/" + *given.ID}
			},
			makes: map[string]int{"subnet": 1, "router": 1, "port": 1, "security group": 1, "security group rule": 5, "key pair": 1},
		},
		"a network with its subnet": {
			give: func(w *rig.World, given *openstackv1alpha1.Networks) []string {
				given.ID, given.Workers = new(makeNetwork(w, "theirs")), ""
				given.SubnetID = new(makeSubnet(w, "theirs", *given.ID, "10.250.64.0/20", nil))
				return []string{subnets + "/" + *given.SubnetID, networks + "/" + *given.ID}
			},
			makes: map[string]int{"router": 1, "port": 1, "security group": 1, "security group rule": 5, "key pair": 1},
		},
		"a security group": {
			give: func(w *rig.World, given *openstackv1alpha1.Networks) []string {
				given.SecurityGroupID = new(makeGroup(w, "theirs", "a user's"))
				return []string{securityGroups + "/" + *given.SecurityGroupID}
			},
			makes: map[string]int{"network": 1, "subnet": 1, "router": 1, "port": 1, "key pair": 1},
		},
	}
	names := 0
	for sentence, c := range given {
		names++
		name := fmt.Sprintf("given-%d", names)
		t.Run(sentence+" is used and stays", func(t *testing.T) {
			w := r.NewWorld(t)
			w.StartController()
			var paths []string
			shoot := w.Shoot(name)
			shoot.InfrastructureConfig = w.Config(func(config *openstackv1alpha1.InfrastructureConfig) {
				paths = c.give(w, &config.Networks)
			})
			w.Update(shoot)
			inventory, before, were := w.Inventory(), facts(w), w.Kinds()

			w.Fulfil(shoot)
			made := w.Kinds()
			for kind, count := range were {
				made[kind] -= count
				if made[kind] == 0 {
					delete(made, kind)
				}
			}
			assert.Equal(t, c.makes, made)
			assertStays(w, before)
			w.Cloud.ResetLog()
			w.FulfilAgain(shoot)
			assertNothingWritten(w)

			w.Destroy(shoot)
			assert.Equal(t, inventory, w.Inventory(), "the user's parts, and nothing else")
			assertStays(w, before)
			remove(w, paths...)
		})
	}
}

func testGivenIsVerified(t *testing.T, r *rig.Rig) {
	w := r.NewWorld(t)
	w.StartController()
	theirs, another := makeNetwork(w, "theirs"), makeNetwork(w, "another")
	subnet := makeSubnet(w, "theirs", theirs, "10.250.64.0/20", nil)
	before := w.Inventory()
	names := 0
	for sentence, c := range map[string]struct {
		networks openstackv1alpha1.Networks
		says     []string
		// makes says that other parts may have been made meanwhile.
		makes bool
	}{
		"a router that does not exist": {
			openstackv1alpha1.Networks{Workers: "10.250.0.0/19", Router: &openstackv1alpha1.Router{ID: nobody}},
			[]string{"networks.router.id", nobody},
			false,
		},
		"a network that does not exist": {
			openstackv1alpha1.Networks{Workers: "10.250.0.0/19", ID: new(nobody)}, []string{"networks.id", nobody}, false,
		},
		"a network that is external": {
			openstackv1alpha1.Networks{Workers: "10.250.0.0/19", ID: new(w.ExternalNetwork())}, []string{"networks.id", "external network"}, true,
		},
		"a subnet that does not exist": {
			openstackv1alpha1.Networks{ID: &theirs, SubnetID: new(nobody)}, []string{"networks.subnetId", nobody}, false,
		},
		"a subnet of another network": {
			openstackv1alpha1.Networks{ID: &another, SubnetID: &subnet}, []string{"networks.subnetId", subnet, another}, true,
		},
		"a security group that does not exist": {
			openstackv1alpha1.Networks{Workers: "10.250.0.0/19", SecurityGroupID: new(nobody)}, []string{"networks.securityGroupId", nobody}, false,
		},
	} {
		names++
		name := fmt.Sprintf("refused-%d", names)
		t.Run(sentence+" is named", func(t *testing.T) {
			w := w.In(t)
			shoot := w.Shoot(name)
			shoot.InfrastructureConfig = w.Config(func(config *openstackv1alpha1.InfrastructureConfig) { config.Networks = c.networks })
			w.Update(shoot)
			w.Order(shoot)
			reported := w.WaitForError(shoot).Status.LastError
			t.Log(reported.Description)
			for _, part := range c.says {
				assert.Contains(t, reported.Description, part)
			}
			assert.Equal(t, []gardencorev1beta1.ErrorCode{gardencorev1beta1.ErrorConfigurationProblem}, reported.Codes)
			if !c.makes {
				assert.Equal(t, before, w.Inventory(), "nothing is made before that is found out")
			}
			w.Destroy(shoot)
			assert.Equal(t, before, w.Inventory())
		})
	}
	remove(w, subnets+"/"+subnet, networks+"/"+theirs, networks+"/"+another)
}
