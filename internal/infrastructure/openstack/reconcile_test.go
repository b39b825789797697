package openstack

import (
	"errors"
	"slices"
	"testing"

	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/internal/cloud"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/services"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

func TestOutcome(t *testing.T) {
	env := newEnvironment(t)
	outcome := env.mustReconcile()
	resources := env.resources()
	network, subnet, router, group := resources.Networks[0], resources.Subnets[0], resources.Routers[0], resources.SecurityGroups[len(resources.SecurityGroups)-1]

	mark := formatMark(technicalID, shootUID)
	for kind, description := range map[string]string{
		"network": network.Description, "subnet": subnet.Description, "router": router.Description, "security group": group.Description,
	} {
		assert.Equal(t, mark, description, "the %s is marked at birth", kind)
	}
	status := outcome.ProviderStatus.(*openstackv1alpha1.InfrastructureStatus)
	address := status.Networks.Router.IP
	assert.NotEmpty(t, address)
	want := openstackv1alpha1.NewInfrastructureStatus()
	want.Networks = openstackv1alpha1.NetworkStatus{
		ID: network.ID, Name: technicalID,
		FloatingPool: openstackv1alpha1.FloatingPoolStatus{ID: status.Networks.FloatingPool.ID, Name: fake.ExternalNetwork},
		Router:       openstackv1alpha1.RouterStatus{ID: router.ID, IP: address, ExternalFixedIPs: []string{address}},
		Subnets:      []openstackv1alpha1.Subnet{{Purpose: openstackv1alpha1.PurposeNodes, ID: subnet.ID, CIDR: "10.250.0.0/19"}},
	}
	want.Node.KeyName = "shoot--dev--one-5f0c9a52"
	want.SecurityGroups = []openstackv1alpha1.SecurityGroup{{Purpose: openstackv1alpha1.PurposeNodes, ID: group.ID, Name: technicalID}}
	assert.Empty(t, cmp.Diff(want, status))

	assert.Equal(t, []string{address + "/32"}, outcome.EgressCIDRs)
	assert.Nil(t, outcome.NodesCIDR, "the driver did not choose the range of the nodes")
	assert.Equal(t, []string{"10.250.0.0/16"}, outcome.Nodes)
	assert.Equal(t, []string{"100.96.0.0/11"}, outcome.Pods)
	assert.Equal(t, []string{"100.64.0.0/13"}, outcome.Services)
	assert.Empty(t, outcome.Findings)
	assert.Equal(t, []string{"1.1.1.1"}, subnet.DNSNameservers, "only the servers of the subnet's family")
	assert.Equal(t, network.ID, env.state()["Network"], "the upstream extension finds it in its own key")
	assert.Empty(t, env.state()[openstackv1alpha1.StateKeyIntents], "no intent is left open")
}

func TestOutcome_MissingRanges(t *testing.T) {
	env := newEnvironment(t)
	env.shoot.Spec.Networking.Pods, env.shoot.Spec.Networking.Services = nil, nil
	outcome := env.mustReconcile()
	assert.Empty(t, outcome.Pods)
	assert.Empty(t, outcome.Services)
	assert.Equal(t, []string{"10.250.0.0/16"}, outcome.Nodes)
}

func TestRecordIntents_SavedBeforeCreate(t *testing.T) {
	for name, saves := range map[string]int{"when nothing can be saved": 0, "when only the intents cannot": 1} {
		t.Run(name, func(t *testing.T) {
			env := newEnvironment(t)
			before := env.resources()
			env.beforeSave = func() error {
				if saves--; saves >= 0 {
					return nil
				}
				return errors.New("the API server is away")
			}
			_, err := env.reconcile()
			require.ErrorContains(t, err, "the API server is away")
			env.assertUnchanged(before)
			env.beforeSave = nil
			env.mustReconcile()
		})
	}
}

func TestRecordIntents_SavedTogether(t *testing.T) {
	env := newEnvironment(t)
	var intents string
	env.onSave = func(data map[string]string) {
		if intents == "" && data[openstackv1alpha1.StateKeyIntents] != "" {
			intents = data[openstackv1alpha1.StateKeyIntents]
			assert.Empty(t, env.cloud.Log().Where(wire.Call.IsWrite), "created before the intents were saved")
		}
	}
	env.mustReconcile()
	for _, k := range []string{"Network", "Subnet", "Router", "SecurityGroup", "KeyPair"} {
		assert.Contains(t, intents, `"`+k+`"`)
	}
}

func TestObserve_RecordedResourceGone(t *testing.T) {
	env := newEnvironment(t)
	env.mustReconcile()
	want := countByKind(env.resources())
	group := env.state()["SecurityGroup"]
	require.NoError(t, env.session().DeleteSecurityGroup(t.Context(), group))
	require.NoError(t, env.session().DeleteKeyPair(t.Context(), env.state()["KeyPair"]))
	env.mustReconcile()
	assert.NotEqual(t, group, env.state()["SecurityGroup"])
	assert.Equal(t, want, countByKind(env.resources()))
}

func TestObserve_FoundByMark(t *testing.T) {
	env := newEnvironment(t)
	env.mustReconcile()
	before, state := env.resources(), env.state()
	env.clearStatus()
	env.mustReconcile()
	env.assertUnchanged(before)
	for _, key := range []string{"Network", "Subnet", "Router", "SecurityGroup", "KeyPair"} {
		assert.Equal(t, state[key], env.state()[key], key)
	}
}

func TestDriver_ReconcileOnOtherSeed(t *testing.T) {
	env := newEnvironment(t)
	empty := env.resources()
	env.mustReconcile()
	before, state := env.resources(), env.infra.Status.State
	env.infra.Status = extensionsv1alpha1.InfrastructureStatus{DefaultStatus: extensionsv1alpha1.DefaultStatus{State: state}}
	env.restart()
	outcome := env.mustReconcile()
	assert.Empty(t, env.takeCalls().Where(wire.Call.IsWrite).Where(func(call wire.Call) bool { return !call.IsLogin() }))
	env.assertUnchanged(before)
	assert.NotEmpty(t, outcome.EgressCIDRs)
	env.mustDelete()
	env.assertUnchanged(empty)
}

func TestObserve_SeveralMarked(t *testing.T) {
	env := newEnvironment(t)
	empty := env.resources()
	mark := formatMark(technicalID, shootUID)
	ids := []string{env.plant("security-groups", fake.Attrs{"name": technicalID, "description": mark}), env.plant("security-groups", fake.Attrs{"name": technicalID, "description": mark})}
	slices.Sort(ids)
	env.attempted = true
	outcome := env.mustReconcile()
	assert.Equal(t, ids[0], env.state()["SecurityGroup"])
	assert.Equal(t, []string{"security group " + ids[1] + " is marked as this shoot's own, but another one is in use; it is removed with the shoot, or by hand before"}, outcome.Findings)
	assert.Equal(t, outcome.Findings, env.mustReconcile().Findings, "it is not forgotten")
	env.mustDelete()
	env.assertUnchanged(empty)
}

func TestObserve_NamesakesIgnored(t *testing.T) {
	env := newEnvironment(t)
	otherMark := formatMark(technicalID, "another-uid")
	longer := formatMark(technicalID+"-b", shootUID+"-b")
	for _, name := range []string{technicalID, technicalID + "-b", technicalID + "-ipv6"} {
		network := env.plant("networks", fake.Attrs{"name": name, "description": otherMark})
		env.plant("subnets", fake.Attrs{"name": name, "network_id": network, "ip_version": 4, "cidr": "10.250.0.0/19", "description": longer})
		env.plant("routers", fake.Attrs{"name": name})
		env.plant("security-groups", fake.Attrs{"name": name, "description": "Cluster Nodes"})
	}
	_, err := env.session().CreateKeyPair(t.Context(), technicalID, otherKey)
	require.NoError(t, err)
	before := env.resources()

	env.mustReconcile()
	_, deleted := fake.Diff(before, env.resources())
	assert.Empty(t, deleted)
	env.clearStatus() // a second pass goes by marks alone
	env.mustReconcile()
	assert.Len(t, env.resources().Networks, 4)
	env.clearStatus()
	env.mustDelete()
	env.assertUnchanged(before)
}

func TestCheckMark_OtherShoot(t *testing.T) {
	env := newEnvironment(t)
	id := env.plant("networks", fake.Attrs{"name": technicalID, "description": formatMark("shoot--other", "another-uid")})
	env.infra.Status.State = env.marshal(map[string]any{
		"apiVersion": openstackv1alpha1.GroupVersion().String(), "kind": "InfrastructureState", "data": map[string]string{"Network": id},
	})
	env.attempted = true
	_, err := env.reconcile()
	assert.ErrorContains(t, err, "belongs to shoot shoot--other")
}

func TestEnsureKeyPair(t *testing.T) {
	t.Run("a rotated key replaces the old one under the same name", func(t *testing.T) {
		env := newEnvironment(t)
		env.mustReconcile()
		env.infra.Spec.SSHPublicKey = []byte(otherKey)
		env.mustReconcile()
		require.Len(t, env.resources().KeyPairs, 1)
		assert.True(t, samePublicKey(otherKey, env.resources().KeyPairs[0].PublicKey))
	})
	t.Run("a key that was rotated after a crash replaces the crashed one's", func(t *testing.T) {
		env := newEnvironment(t)
		env.cloud.Inject(wire.Fault{Match: wire.Match{Service: services.Nova, Method: "POST"}, Drop: wire.DropAfter})
		_, err := env.reconcile()
		require.Error(t, err)
		env.infra.Spec.SSHPublicKey = []byte(otherKey)
		env.mustReconcile()
		require.Len(t, env.resources().KeyPairs, 1)
		assert.True(t, samePublicKey(otherKey, env.resources().KeyPairs[0].PublicKey))
	})
	t.Run("without SSH access there is none, and nothing panics", func(t *testing.T) {
		env := newEnvironment(t)
		env.infra.Spec.SSHPublicKey = nil
		outcome := env.mustReconcile()
		assert.Empty(t, env.resources().KeyPairs)
		assert.Empty(t, outcome.ProviderStatus.(*openstackv1alpha1.InfrastructureStatus).Node.KeyName)
	})
	t.Run("switching SSH access off removes it", func(t *testing.T) {
		env := newEnvironment(t)
		env.mustReconcile()
		env.infra.Spec.SSHPublicKey = nil
		env.mustReconcile()
		assert.Empty(t, env.resources().KeyPairs)
		assert.Empty(t, env.state()["KeyPair"])
	})
	t.Run("a foreign one of the very same name is named, kept, and survives the deletion", func(t *testing.T) {
		env := newEnvironment(t)
		_, err := env.session().CreateKeyPair(t.Context(), keyPairName(technicalID, shootUID), otherKey)
		require.NoError(t, err)
		for range 2 {
			_, err = env.reconcile()
			require.ErrorContains(t, err, `key pair "shoot--dev--one-5f0c9a52" exists with another public key`)
			assert.Equal(t, cloud.Configuration, cloud.KindOf(err))
		}
		env.mustDelete()
		require.Len(t, env.resources().KeyPairs, 1)
		assert.True(t, samePublicKey(otherKey, env.resources().KeyPairs[0].PublicKey))
	})
}

func TestCreateRouter_FloatingSubnets(t *testing.T) {
	router := func(env *environment) string { return env.resources().Routers[0].Gateway.ExternalFixedIPs[0].SubnetID }
	id := func(env *environment, name string) string {
		for _, subnet := range env.cloud.State("").Subnets {
			if subnet.Name == name {
				return subnet.ID
			}
		}
		t.Fatalf("no subnet %s", name)
		return ""
	}
	t.Run("a pattern selects the subnet, which is remembered", func(t *testing.T) {
		env := newEnvironment(t)
		env.selectFloatingSubnet("~public-(b|c)")
		env.mustReconcile()
		assert.Equal(t, id(env, fake.ExternalSubnetB), router(env))
		assert.Equal(t, fake.ExternalSubnetB, env.state()["FloatingPoolSubnetName"])
	})
	t.Run("an exhausted subnet gives way to the next candidate", func(t *testing.T) {
		env := newEnvironment(t)
		require.NoError(t, env.cloud.ExhaustSubnet(fake.ExternalSubnetA, true))
		env.selectFloatingSubnet("public-*")
		env.mustReconcile()
		assert.Equal(t, id(env, fake.ExternalSubnetB), router(env))
		assert.Len(t, env.resources().Routers, 1)
	})
	t.Run("when all are exhausted the error says so", func(t *testing.T) {
		env := newEnvironment(t)
		require.NoError(t, env.cloud.ExhaustSubnet(fake.ExternalSubnetA, true))
		require.NoError(t, env.cloud.ExhaustSubnet(fake.ExternalSubnetB, true))
		env.selectFloatingSubnet("public-*")
		_, err := env.reconcile()
		assert.ErrorContains(t, err, `none of the 2 subnets that floatingPoolSubnetName "public-*" selects has an address left`)
		assert.Equal(t, cloud.Depleted, cloud.KindOf(err))
	})
	t.Run("D5: the cloud profile's default counts for a pool without region and with a pattern", func(t *testing.T) {
		env := newEnvironment(t)
		env.openFloatingSubnets()
		env.profile.Constraints.FloatingPools = []openstackv1alpha1.FloatingPool{{Name: "*", DefaultFloatingSubnet: new(fake.ExternalSubnetB)}}
		env.mustReconcile()
		assert.Equal(t, id(env, fake.ExternalSubnetB), router(env))
	})
	t.Run("a floating pool can be given by ID", func(t *testing.T) {
		env := newEnvironment(t)
		env.profile.Constraints.FloatingPools = []openstackv1alpha1.FloatingPool{{Name: "*"}}
		env.config.FloatingPoolName = env.cloud.State(fake.AdminProject).Networks[0].ID
		outcome := env.mustReconcile()
		assert.Equal(t, fake.ExternalNetwork, outcome.ProviderStatus.(*openstackv1alpha1.InfrastructureStatus).Networks.FloatingPool.Name)
	})
	t.Run("an unknown pool is a configuration error that names the field", func(t *testing.T) {
		env := newEnvironment(t)
		env.profile.Constraints.FloatingPools = []openstackv1alpha1.FloatingPool{{Name: "*"}}
		env.config.FloatingPoolName = "nowhere"
		_, err := env.reconcile()
		assert.ErrorContains(t, err, "floatingPoolName")
		assert.Equal(t, cloud.Configuration, cloud.KindOf(err))
	})
}
