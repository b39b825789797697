package infrastructuresuite

import (
	"encoding/json"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/e2e/internal/gardenlet"
	"github.com/trellis-garden/trellis/e2e/internal/testenv"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/conformance"
)

// testAdoption adopts resources that the upstream extension has created.
func testAdoption(t *testing.T, f *testenv.Fixture) {
	t.Run("makes and changes nothing, and deletes all of it in the end", func(t *testing.T) {
		env := f.NewEnv(t)
		shoot := upstreamShoot(env, "adopted")
		before, existing := stableResources(env), env.Inventory()
		env.StartController()

		env.Cloud.ResetLog()
		env.Reconcile(shoot)
		assertNothingWritten(env)
		assert.Equal(t, existing, env.Inventory())
		assertStays(env, before)
		assert.Equal(t, gardencorev1beta1.LastOperationTypeReconcile, env.Get(shoot).Status.LastOperation.Type)
		var status openstackv1alpha1.InfrastructureStatus
		require.NoError(t, json.Unmarshal(env.Get(shoot).Status.ProviderStatus.Raw, &status))
		assert.Equal(t, shoot.Namespace(), status.Node.KeyName)

		env.Destroy(shoot)
		assertEmpty(env)
	})
	t.Run("deletes all of it without having reconciled before", func(t *testing.T) {
		env := f.NewEnv(t)
		shoot := upstreamShoot(env, "adopted-late")
		env.StartController()
		env.Destroy(shoot)
		assertEmpty(env)
	})
}

// upstreamShoot creates a shoot as the upstream extension leaves it: the resources with upstream's names, and the object with its finalizer and
// its state.
func upstreamShoot(env *testenv.Env, name string) *gardenlet.Shoot {
	env.T.Helper()
	shoot := env.Shoot(name)
	id := shoot.Namespace()
	network := makeNetwork(env, id)
	subnet := makeSubnet(env, id, network, "10.250.0.0/19", testenv.Body{"dns_nameservers": []string{"1.1.1.1", "9.9.9.9"}})
	router := makeRouter(env, id)
	connect(env, router, subnet)
	group := makeGroup(env, id, "Cluster Nodes")
	for _, rule := range []testenv.Body{
		{"description": "IPv4: allow all incoming traffic within the same security group", "remote_group_id": group},
		{
			"description": "IPv4: allow all incoming tcp traffic with port range 30000-32767",
			"protocol":    "tcp", "port_range_min": 30000, "port_range_max": 32767, "remote_ip_prefix": "0.0.0.0/0",
		},
		{
			"description": "IPv4: allow all incoming udp traffic with port range 30000-32767",
			"protocol":    "udp", "port_range_min": 30000, "port_range_max": 32767, "remote_ip_prefix": "0.0.0.0/0",
		},
	} {
		rule["security_group_id"], rule["direction"], rule["ethertype"] = group, "ingress", "IPv4"
		env.Make(conformance.Network, rules, testenv.Body{"security_group_rule": rule})
	}
	env.Make(conformance.Compute, keyPairs, testenv.Body{"keypair": testenv.Body{"name": id, "public_key": string(shoot.SSHPublicKey)}})

	createUpstreamObject(env, shoot, openstackv1alpha1.InfrastructureState{
		TypeMeta: metav1.TypeMeta{APIVersion: openstackv1alpha1.GroupVersion().String(), Kind: "InfrastructureState"},
		Data: map[string]string{
			"Network": network, "NetworkName": id, "Subnet": subnet, "Router": router, "KeyPair": id,
			"SecurityGroup": group, "SecurityGroupName": id,
			"FloatingNetwork": env.ExternalNetwork(), "FloatingNetworkName": env.OpenStack().ExternalNetwork(),
		},
	})
	return shoot
}

// createUpstreamObject creates the Infrastructure of a shoot that was reconciled some time ago, with upstream's state, or nil for none.
func createUpstreamObject(env *testenv.Env, shoot *gardenlet.Shoot, state any) {
	env.T.Helper()
	object := env.Gardenlet.Object(shoot)
	object.Finalizers = []string{"extensions.gardener.cloud/infrastructure"}
	require.NoError(env.T, env.Seed.Client.Create(env.T.Context(), object))
	patch := client.MergeFrom(object.DeepCopy())
	if state != nil {
		encoded, err := json.Marshal(state)
		require.NoError(env.T, err)
		object.Status.State = &runtime.RawExtension{Raw: encoded}
	}
	object.Status.LastOperation = &gardencorev1beta1.LastOperation{
		Type: gardencorev1beta1.LastOperationTypeCreate, State: gardencorev1beta1.LastOperationStateSucceeded,
		Description: "Successfully reconciled infrastructure", Progress: 100, LastUpdateTime: metav1.Now(),
	}
	require.NoError(env.T, env.Seed.Client.Status().Patch(env.T.Context(), object, patch))
}
