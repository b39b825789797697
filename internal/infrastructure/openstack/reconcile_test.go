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
	"github.com/trellis-garden/trellis/internal/cloud/openstack/wire"
)

func TestOutcomeOfTheDefaultShoot(t *testing.T) {
	w := newWorld(t)
	outcome := w.mustReconcile()
	there := w.there()
	network, subnet, router, group := there.Networks[0], there.Subnets[0], there.Routers[0], there.SecurityGroups[len(there.SecurityGroups)-1]

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
	assert.Equal(t, network.ID, w.state()["Network"], "the upstream extension finds it in its own key")
	assert.Empty(t, w.state()[openstackv1alpha1.StateKeyIntents], "no intent is left open")
}

func TestRangesThatTheShootDoesNotHaveAreNotListed(t *testing.T) {
	w := newWorld(t)
	w.shoot.Spec.Networking.Pods, w.shoot.Spec.Networking.Services = nil, nil
	outcome := w.mustReconcile()
	assert.Empty(t, outcome.Pods)
	assert.Empty(t, outcome.Services)
	assert.Equal(t, []string{"10.250.0.0/16"}, outcome.Nodes)
}

func TestNothingIsCreatedBeforeTheIntentsAreSaved(t *testing.T) {
	for name, saves := range map[string]int{"when nothing can be saved": 0, "when only the intents cannot": 1} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			before := w.there()
			w.beforeSave = func() error {
				if saves--; saves >= 0 {
					return nil
				}
				return errors.New("the API server is away")
			}
			_, err := w.reconcile()
			require.ErrorContains(t, err, "the API server is away")
			w.unchanged(before)
			w.beforeSave = nil
			w.mustReconcile()
		})
	}
}

func TestIntentsAreSavedTogetherBeforeTheFirstCreate(t *testing.T) {
	w := newWorld(t)
	var intents string
	w.onSave = func(data map[string]string) {
		if intents == "" && data[openstackv1alpha1.StateKeyIntents] != "" {
			intents = data[openstackv1alpha1.StateKeyIntents]
			assert.Empty(t, w.cloud.Log().Where(wire.Call.Writes), "created before the intents were saved")
		}
	}
	w.mustReconcile()
	for _, k := range []string{"Network", "Subnet", "Router", "SecurityGroup", "KeyPair"} {
		assert.Contains(t, intents, `"`+k+`"`)
	}
}

func TestWhatWasRecordedAndIsGoneIsMadeAnew(t *testing.T) {
	w := newWorld(t)
	w.mustReconcile()
	want := kinds(w.there())
	group := w.state()["SecurityGroup"]
	require.NoError(t, w.session().DeleteSecurityGroup(t.Context(), group))
	require.NoError(t, w.session().DeleteKeyPair(t.Context(), w.state()["KeyPair"]))
	w.mustReconcile()
	assert.NotEqual(t, group, w.state()["SecurityGroup"])
	assert.Equal(t, want, kinds(w.there()))
}

func TestWhatIsNotRecordedIsFoundByItsMark(t *testing.T) {
	w := newWorld(t)
	w.mustReconcile()
	before, state := w.there(), w.state()
	w.forget()
	w.mustReconcile()
	w.unchanged(before)
	for _, key := range []string{"Network", "Subnet", "Router", "SecurityGroup", "KeyPair"} {
		assert.Equal(t, state[key], w.state()[key], key)
	}
}

func TestAnotherSeedGoesOnFromTheStateAlone(t *testing.T) {
	w := newWorld(t)
	empty := w.there()
	w.mustReconcile()
	before, state := w.there(), w.infra.Status.State
	w.infra.Status = extensionsv1alpha1.InfrastructureStatus{DefaultStatus: extensionsv1alpha1.DefaultStatus{State: state}}
	w.restart()
	outcome := w.mustReconcile()
	assert.Empty(t, w.calls().Where(wire.Call.Writes).Where(func(call wire.Call) bool { return !call.IsLogin() }))
	w.unchanged(before)
	assert.NotEmpty(t, outcome.EgressCIDRs)
	w.mustDelete()
	w.unchanged(empty)
}

func TestOfSeveralMarkedOnesTheSameIsUsedAndTheOthersAreNamed(t *testing.T) {
	w := newWorld(t)
	empty := w.there()
	mark := formatMark(technicalID, shootUID)
	ids := []string{w.plant("security-groups", fake.Attrs{"name": technicalID, "description": mark}), w.plant("security-groups", fake.Attrs{"name": technicalID, "description": mark})}
	slices.Sort(ids)
	w.attempted = true
	outcome := w.mustReconcile()
	assert.Equal(t, ids[0], w.state()["SecurityGroup"])
	assert.Equal(t, []string{"security group " + ids[1] + " is marked as this shoot's own, but another one is in use; it is removed with the shoot, or by hand before"}, outcome.Findings)
	assert.Equal(t, outcome.Findings, w.mustReconcile().Findings, "it is not forgotten")
	w.mustDelete()
	w.unchanged(empty)
}

func TestNamesakesOfOthersAreNeverAdopted(t *testing.T) {
	w := newWorld(t)
	foreign := formatMark(technicalID, "another-uid")
	longer := formatMark(technicalID+"-b", shootUID+"-b")
	for _, name := range []string{technicalID, technicalID + "-b", technicalID + "-ipv6"} {
		network := w.plant("networks", fake.Attrs{"name": name, "description": foreign})
		w.plant("subnets", fake.Attrs{"name": name, "network_id": network, "ip_version": 4, "cidr": "10.250.0.0/19", "description": longer})
		w.plant("routers", fake.Attrs{"name": name})
		w.plant("security-groups", fake.Attrs{"name": name, "description": "Cluster Nodes"})
	}
	_, err := w.session().CreateKeyPair(t.Context(), technicalID, otherKey)
	require.NoError(t, err)
	before := w.there()

	w.mustReconcile()
	_, went := fake.Diff(before, w.there())
	assert.Empty(t, went)
	w.forget() // a second pass goes by marks alone
	w.mustReconcile()
	assert.Len(t, w.there().Networks, 4)
	w.forget()
	w.mustDelete()
	w.unchanged(before)
}

func TestRecordedResourceOfAnotherShootIsRefused(t *testing.T) {
	w := newWorld(t)
	id := w.plant("networks", fake.Attrs{"name": technicalID, "description": formatMark("shoot--other", "another-uid")})
	w.infra.Status.State = w.marshal(map[string]any{
		"apiVersion": openstackv1alpha1.GroupVersion().String(), "kind": "InfrastructureState", "data": map[string]string{"Network": id},
	})
	w.attempted = true
	_, err := w.reconcile()
	assert.ErrorContains(t, err, "belongs to shoot shoot--other")
}

func TestKeyPairs(t *testing.T) {
	t.Run("a rotated key replaces the old one under the same name", func(t *testing.T) {
		w := newWorld(t)
		w.mustReconcile()
		w.infra.Spec.SSHPublicKey = []byte(otherKey)
		w.mustReconcile()
		require.Len(t, w.there().KeyPairs, 1)
		assert.True(t, samePublicKey(otherKey, w.there().KeyPairs[0].PublicKey))
	})
	t.Run("a key that was rotated after a crash replaces the crashed one's", func(t *testing.T) {
		w := newWorld(t)
		w.cloud.Inject(wire.Fault{Match: wire.Match{Service: wire.Nova, Method: "POST"}, Drop: wire.DropAfter})
		_, err := w.reconcile()
		require.Error(t, err)
		w.infra.Spec.SSHPublicKey = []byte(otherKey)
		w.mustReconcile()
		require.Len(t, w.there().KeyPairs, 1)
		assert.True(t, samePublicKey(otherKey, w.there().KeyPairs[0].PublicKey))
	})
	t.Run("without SSH access there is none, and nothing panics", func(t *testing.T) {
		w := newWorld(t)
		w.infra.Spec.SSHPublicKey = nil
		outcome := w.mustReconcile()
		assert.Empty(t, w.there().KeyPairs)
		assert.Empty(t, outcome.ProviderStatus.(*openstackv1alpha1.InfrastructureStatus).Node.KeyName)
	})
	t.Run("switching SSH access off removes it", func(t *testing.T) {
		w := newWorld(t)
		w.mustReconcile()
		w.infra.Spec.SSHPublicKey = nil
		w.mustReconcile()
		assert.Empty(t, w.there().KeyPairs)
		assert.Empty(t, w.state()["KeyPair"])
	})
	t.Run("a foreign one of the very same name is named, kept, and survives the deletion", func(t *testing.T) {
		w := newWorld(t)
		_, err := w.session().CreateKeyPair(t.Context(), keyPairName(technicalID, shootUID), otherKey)
		require.NoError(t, err)
		for range 2 {
			_, err = w.reconcile()
			require.ErrorContains(t, err, `key pair "shoot--dev--one-5f0c9a52" exists with another public key`)
			assert.Equal(t, cloud.Configuration, cloud.KindOf(err))
		}
		w.mustDelete()
		require.Len(t, w.there().KeyPairs, 1)
		assert.True(t, samePublicKey(otherKey, w.there().KeyPairs[0].PublicKey))
	})
}

func TestFloatingSubnets(t *testing.T) {
	router := func(w *world) string { return w.there().Routers[0].Gateway.ExternalFixedIPs[0].SubnetID }
	id := func(w *world, name string) string {
		for _, subnet := range w.cloud.State("").Subnets {
			if subnet.Name == name {
				return subnet.ID
			}
		}
		t.Fatalf("no subnet %s", name)
		return ""
	}
	t.Run("a pattern selects the subnet, which is remembered", func(t *testing.T) {
		w := newWorld(t)
		w.selectFloatingSubnet("~public-(b|c)")
		w.mustReconcile()
		assert.Equal(t, id(w, fake.ExternalSubnetB), router(w))
		assert.Equal(t, fake.ExternalSubnetB, w.state()["FloatingPoolSubnetName"])
	})
	t.Run("an exhausted subnet gives way to the next candidate", func(t *testing.T) {
		w := newWorld(t)
		require.NoError(t, w.cloud.ExhaustSubnet(fake.ExternalSubnetA, true))
		w.selectFloatingSubnet("public-*")
		w.mustReconcile()
		assert.Equal(t, id(w, fake.ExternalSubnetB), router(w))
		assert.Len(t, w.there().Routers, 1)
	})
	t.Run("when all are exhausted the error says so", func(t *testing.T) {
		w := newWorld(t)
		require.NoError(t, w.cloud.ExhaustSubnet(fake.ExternalSubnetA, true))
		require.NoError(t, w.cloud.ExhaustSubnet(fake.ExternalSubnetB, true))
		w.selectFloatingSubnet("public-*")
		_, err := w.reconcile()
		assert.ErrorContains(t, err, `none of the 2 subnets that floatingPoolSubnetName "public-*" selects has an address left`)
		assert.Equal(t, cloud.Depleted, cloud.KindOf(err))
	})
	t.Run("D5: the cloud profile's default counts for a pool without region and with a pattern", func(t *testing.T) {
		w := newWorld(t)
		w.openFloatingSubnets()
		w.profile.Constraints.FloatingPools = []openstackv1alpha1.FloatingPool{{Name: "*", DefaultFloatingSubnet: new(fake.ExternalSubnetB)}}
		w.mustReconcile()
		assert.Equal(t, id(w, fake.ExternalSubnetB), router(w))
	})
	t.Run("a floating pool can be given by ID", func(t *testing.T) {
		w := newWorld(t)
		w.profile.Constraints.FloatingPools = []openstackv1alpha1.FloatingPool{{Name: "*"}}
		w.config.FloatingPoolName = w.cloud.State(fake.AdminProject).Networks[0].ID
		outcome := w.mustReconcile()
		assert.Equal(t, fake.ExternalNetwork, outcome.ProviderStatus.(*openstackv1alpha1.InfrastructureStatus).Networks.FloatingPool.Name)
	})
	t.Run("an unknown pool is a configuration error that names the field", func(t *testing.T) {
		w := newWorld(t)
		w.profile.Constraints.FloatingPools = []openstackv1alpha1.FloatingPool{{Name: "*"}}
		w.config.FloatingPoolName = "nowhere"
		_, err := w.reconcile()
		assert.ErrorContains(t, err, "floatingPoolName")
		assert.Equal(t, cloud.Configuration, cloud.KindOf(err))
	})
}
