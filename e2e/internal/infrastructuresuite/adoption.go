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
	"github.com/trellis-garden/trellis/e2e/internal/rig"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/conformance"
)

// testAdoption takes over what the upstream extension made.
func testAdoption(t *testing.T, r *rig.Rig) {
	t.Run("makes and changes nothing, and deletes all of it in the end", func(t *testing.T) {
		w := r.NewWorld(t)
		shoot := upstreamShoot(w, "adopted")
		before, existing := facts(w), w.Inventory()
		w.StartController()

		w.Cloud.ResetLog()
		w.Fulfil(shoot)
		assertNothingWritten(w)
		assert.Equal(t, existing, w.Inventory())
		assertStays(w, before)
		assert.Equal(t, gardencorev1beta1.LastOperationTypeReconcile, w.Get(shoot).Status.LastOperation.Type)
		var status openstackv1alpha1.InfrastructureStatus
		require.NoError(t, json.Unmarshal(w.Get(shoot).Status.ProviderStatus.Raw, &status))
		assert.Equal(t, shoot.Namespace(), status.Node.KeyName)

		w.Destroy(shoot)
		assertEmpty(w)
	})
	t.Run("deletes all of it without having reconciled before", func(t *testing.T) {
		w := r.NewWorld(t)
		shoot := upstreamShoot(w, "adopted-late")
		w.StartController()
		w.Destroy(shoot)
		assertEmpty(w)
	})
}

// upstreamShoot makes a shoot as the upstream extension leaves it: the resources in the cloud with the names that it gives,
// and the object with its finalizer and its state.
func upstreamShoot(w *rig.World, name string) *gardenlet.Shoot {
	w.T.Helper()
	shoot := w.Shoot(name)
	id := shoot.Namespace()
	network := makeNetwork(w, id)
	subnet := makeSubnet(w, id, network, "10.250.0.0/19", rig.Body{"dns_nameservers": []string{"1.1.1.1", "9.9.9.9"}})
	router := makeRouter(w, id)
	connect(w, router, subnet)
	group := makeGroup(w, id, "Cluster Nodes")
	for _, rule := range []rig.Body{
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
		w.Make(conformance.Network, rules, rig.Body{"security_group_rule": rule})
	}
	w.Make(conformance.Compute, keyPairs, rig.Body{"keypair": rig.Body{"name": id, "public_key": string(shoot.SSHPublicKey)}})

	plantObject(w, shoot, map[string]string{
		"Network": network, "NetworkName": id, "Subnet": subnet, "Router": router, "KeyPair": id,
		"SecurityGroup": group, "SecurityGroupName": id,
		"FloatingNetwork": w.ExternalNetwork(), "FloatingNetworkName": w.Cloud.ExternalNetwork(),
	})
	return shoot
}

// plantObject makes the Infrastructure of a shoot that was fulfilled some time ago, with what its state knows.
func plantObject(w *rig.World, shoot *gardenlet.Shoot, known map[string]string) {
	w.T.Helper()
	object := w.Gardenlet.Object(shoot)
	object.Finalizers = []string{"extensions.gardener.cloud/infrastructure"}
	require.NoError(w.T, w.Seed.Client.Create(w.T.Context(), object))
	patch := client.MergeFrom(object.DeepCopy())
	state, err := json.Marshal(openstackv1alpha1.InfrastructureState{
		TypeMeta: metav1.TypeMeta{APIVersion: openstackv1alpha1.GroupVersion().String(), Kind: "InfrastructureState"}, Data: known,
	})
	require.NoError(w.T, err)
	object.Status.State = &runtime.RawExtension{Raw: state}
	object.Status.LastOperation = &gardencorev1beta1.LastOperation{
		Type: gardencorev1beta1.LastOperationTypeCreate, State: gardencorev1beta1.LastOperationStateSucceeded,
		Description: "Successfully reconciled infrastructure", Progress: 100, LastUpdateTime: metav1.Now(),
	}
	require.NoError(w.T, w.Seed.Client.Status().Patch(w.T.Context(), object, patch))
}
