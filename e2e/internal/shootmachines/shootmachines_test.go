package shootmachines

import (
	"bytes"
	"errors"
	"net/netip"
	"testing"
	"time"

	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/gardener/gardener/pkg/client/kubernetes"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

func caSecret(name, issued string) corev1.Secret {
	return corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"name": "ca-client", "issued-at-time": issued}},
		Data:       map[string][]byte{"ca.crt": []byte(name + "\n"), "ca.key": []byte("key")},
	}
}

func TestCandidates_DuringRotation(t *testing.T) {
	older, newer, bundle := caSecret("ca-client-b", "1764400000"), caSecret("ca-client-a", "1764500000"), caSecret("ca-client-bundle", "1764600000")
	delete(bundle.Data, "ca.key")
	service := &corev1.Service{Spec: corev1.ServiceSpec{ClusterIP: "10.0.0.1"}}
	clientCAs := newestFirst([]corev1.Secret{bundle, older, newer})

	found := candidates(clientCAs, bundleOf(clientCAs), service)
	require.Len(t, found, 2, "the bundle is no CA")
	assert.Contains(t, found[0].name, "ca-client-a")
	assert.Contains(t, found[1].name, "ca-client-b")
	assert.Equal(t, "ca-client-a\nca-client-b\n", string(bundleOf(clientCAs)))

	again := candidates(clientCAs, bundleOf(clientCAs[:1]), service)
	assert.NotEqual(t, found[0].name, again[0].name, "the CAs of servers have changed")
	service.Spec.ClusterIP = "10.0.0.2"
	assert.NotEqual(t, again[0].name, candidates(clientCAs, bundleOf(clientCAs[:1]), service)[0].name, "the address has changed")
}

func TestChecksumFor(t *testing.T) {
	config := func(name, pool, checksum string) corev1.Secret {
		return corev1.Secret{ObjectMeta: metav1.ObjectMeta{
			Name: name, Labels: map[string]string{"worker.gardener.cloud/pool": pool}, Annotations: map[string]string{"checksum/data-script": checksum},
		}}
	}
	configs := []corev1.Secret{config("agent-a-new", "a", "1"), config("agent-a-old", "a", "2"), config("agent-b", "b", "3")}
	for sentence, test := range map[string]struct {
		labels map[string]string
		want   string
	}{
		"a node keeps the Secret it was created with": {map[string]string{
			"worker.gardener.cloud/pool": "a", "worker.gardener.cloud/gardener-node-agent-secret-name": "agent-a-old",
		}, "2"},
		"a node whose Secret is not named gets the pool's": {map[string]string{"worker.gardener.cloud/pool": "b"}, "3"},
		"a node whose Secret is gone gets none": {map[string]string{
			"worker.gardener.cloud/pool": "a", "worker.gardener.cloud/gardener-node-agent-secret-name": "agent-a-oldest",
		}, ""},
		"a node of no pool gets none": {nil, ""},
	} {
		t.Run(sentence, func(t *testing.T) {
			assert.Equal(t, test.want, checksumFor(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Labels: test.labels}}, configs))
		})
	}
}

func TestRenewLease(t *testing.T) {
	c := fake.NewClientBuilder().WithScheme(kubernetes.ShootScheme).Build()
	node, start := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "machine-1", UID: "1"}}, time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	keys := leasesOf(node)
	assert.Equal(t, "kube-system/gardener-node-agent-machine-1", keys[0].String())
	assert.Equal(t, "kube-node-lease/machine-1", keys[1].String())
	renewed := func(after time.Duration) time.Duration {
		require.NoError(t, renewLease(t.Context(), c, node, keys[0], start.Add(after)))
		lease := &coordinationv1.Lease{}
		require.NoError(t, c.Get(t.Context(), keys[0], lease))
		assert.Equal(t, "machine-1", lease.OwnerReferences[0].Name)
		return lease.Spec.RenewTime.Sub(start)
	}
	assert.Equal(t, time.Duration(0), renewed(0))
	assert.Equal(t, time.Duration(0), renewed(leaseInterval-time.Second), "it is still fresh")
	assert.Equal(t, leaseInterval, renewed(leaseInterval))
}

func TestApplyConfig(t *testing.T) {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "machine-1", Labels: map[string]string{"worker.gardener.cloud/pool": "a"}}}
	c := fake.NewClientBuilder().WithScheme(kubernetes.ShootScheme).WithObjects(node).Build()
	configs := []corev1.Secret{{ObjectMeta: metav1.ObjectMeta{
		Name: "agent", Labels: map[string]string{"worker.gardener.cloud/pool": "a"}, Annotations: map[string]string{"checksum/data-script": "1"},
	}}}
	require.NoError(t, applyConfig(t.Context(), c, node, configs))
	found := &corev1.Node{}
	require.NoError(t, c.Get(t.Context(), client.ObjectKey{Name: "machine-1"}, found))
	assert.Equal(t, "1", found.Annotations["checksum/cloud-config-data"])
	require.NoError(t, applyConfig(t.Context(), c, found, nil), "there is no OperatingSystemConfig any more")
}

func TestVersionIn(t *testing.T) {
	worker := extensionsv1alpha1.Worker{}
	worker.Spec.Pools = []extensionsv1alpha1.WorkerPool{{Name: "a", KubernetesVersion: new("1.35.9")}, {Name: "b"}}
	assert.Equal(t, "1.35.9", versionIn([]extensionsv1alpha1.Worker{{}, worker}, "a"))
	assert.Empty(t, versionIn([]extensionsv1alpha1.Worker{worker}, "b"))
	assert.Empty(t, versionIn(nil, "a"))
}

func TestAddressesOf(t *testing.T) {
	node := corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "machine-1"}}
	node.Status.Addresses = []corev1.NodeAddress{
		{Type: corev1.NodeHostName, Address: "machine-1"},
		{Type: corev1.NodeInternalIP, Address: "10.250.0.3"},
		{Type: corev1.NodeInternalIP, Address: "2001:db8::3"},
		{Type: corev1.NodeExternalIP, Address: "192.0.2.3"},
	}
	assert.Equal(t, map[netip.Addr]string{
		netip.MustParseAddr("10.250.0.3"): "machine-1", netip.MustParseAddr("2001:db8::3"): "machine-1",
	}, addressesOf([]corev1.Node{node}))
}

func TestJournal_State(t *testing.T) {
	var out bytes.Buffer
	j := newJournal(&out)
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	j.now = func() time.Time { return now }
	for _, step := range []struct {
		after time.Duration
		err   error
	}{
		{0, nil},
		{0, errors.New("refused")},
		{time.Second, errors.New("refused")},
		{time.Second, errors.New("forbidden")},
		{time.Minute, errors.New("forbidden")},
		{time.Second, nil},
		{time.Second, nil},
	} {
		now = now.Add(step.after)
		j.state("shoot", "reaching", step.err)
	}
	assert.Equal(t, `03:04:05.000 shoot: reaching: refused
03:04:07.000 shoot: reaching: for 2s: forbidden
03:05:07.000 shoot: reaching: for 1m2s: forbidden
03:05:08.000 shoot: reaching: works again after 1m3s
`, out.String())
}
