package network_test

import (
	"encoding/json"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	resourcesv1alpha1 "github.com/gardener/gardener/pkg/apis/resources/v1alpha1"
	"github.com/gardener/gardener/pkg/utils/kubernetes/health"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/trellis-garden/trellis/internal/contract"
	"github.com/trellis-garden/trellis/internal/contract/contracttest"
	"github.com/trellis-garden/trellis/internal/contract/images"
	"github.com/trellis-garden/trellis/internal/network"
)

// exampleNet is a plugin of one ConfigMap, and all that a plugin needs to be one.
type exampleNet struct {
	// stageGate has changes go in a stage that waits for what the gate says.
	stageGate *network.Gate
	// retired are the names of ConfigMaps that another extension leaves in the seed.
	retired []string
	// needsHost is that of network.Capabilities.NeedsAPIServerHost.
	needsHost bool
	// transitions keeps what the driver was told of what is deployed.
	transitions *transitionRecord
}

func (f exampleNet) Capabilities(*network.Shoot) network.Capabilities {
	return network.Capabilities{NeedsAPIServerHost: f.needsHost}
}

func (exampleNet) Validate(*network.Shoot) field.ErrorList { return nil }

func (f exampleNet) Render(shoot *network.Shoot) (*network.Rendering, error) {
	rendering := &network.Rendering{Shoot: []client.Object{exampleConfigMap("kube-system", "example-net")}, Form: "vxlan"}
	for _, name := range f.retired {
		rendering.Retired = append(rendering.Retired, exampleConfigMap(shoot.Network.Namespace, name))
	}
	return rendering, nil
}

func (f exampleNet) Transition(shoot *network.Shoot, wanted *network.Rendering) (*network.Stage, error) {
	f.transitions.add(shoot.Deployed)
	if f.stageGate == nil || shoot.Deployed.RolledOut {
		return nil, nil
	}
	return &network.Stage{Name: "setting posts", Rendering: &network.Rendering{Shoot: wanted.Shoot, Form: "posts"}, Gate: *f.stageGate}, nil
}

type transitionRecord struct {
	mutex    sync.Mutex
	deployed []network.Deployed
}

func (t *transitionRecord) add(deployed network.Deployed) {
	if t == nil {
		return
	}
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.deployed = append(t.deployed, deployed)
}

// takeAll returns what was added since the last call.
func (t *transitionRecord) takeAll() []network.Deployed {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	deployed := t.deployed
	t.deployed = nil
	return deployed
}

func exampleConfigMap(namespace, name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Data: map[string]string{"posts": "4"},
	}
}

// seed is a namespace with a shoot in it, and a process that reconciles its Networks.
type seed struct {
	client.Client
	t         *testing.T
	server    *contracttest.APIServer
	namespace string
	manager   *contracttest.ResourceManager
}

func newSeed(t *testing.T, drivers map[string]network.Driver, changes ...func(*gardencorev1beta1.Shoot)) *seed {
	t.Helper()
	server := network.APIServer().Get(t)
	namespace, err := server.NewNamespace(t.Context())
	require.NoError(t, err)
	s := &seed{
		Client: server.Client, t: t, server: server, namespace: namespace,
		manager: contracttest.NewResourceManager(server, namespace, contracttest.NewObjectTracker()),
	}
	require.NoError(t, s.Create(t.Context(), s.clusterWith(changes...)))
	s.start(drivers)
	return s
}

func (s *seed) clusterWith(changes ...func(*gardencorev1beta1.Shoot)) *extensionsv1alpha1.Cluster {
	s.t.Helper()
	fixture := contracttest.Fixture{ProviderType: "local", TechnicalID: "shoot--dev--one"}
	shoot := fixture.Shoot()
	shoot.Status.LastOperation.Type = gardencorev1beta1.LastOperationTypeReconcile
	for _, change := range changes {
		change(shoot)
	}
	cluster, err := contracttest.NewCluster(s.namespace, shoot, fixture.CloudProfile(), fixture.Seed())
	require.NoError(s.t, err)
	return cluster
}

// changeShoot writes the Cluster anew, with the changes.
func (s *seed) changeShoot(changes ...func(*gardencorev1beta1.Shoot)) {
	s.t.Helper()
	cluster := &extensionsv1alpha1.Cluster{}
	require.NoError(s.t, s.Get(s.t.Context(), client.ObjectKey{Name: s.namespace}, cluster))
	cluster.Spec = s.clusterWith(changes...).Spec
	require.NoError(s.t, s.Update(s.t.Context(), cluster))
}

func (s *seed) start(drivers map[string]network.Driver) {
	s.t.Helper()
	host := contracttest.Host{
		Server: s.server, Namespace: s.namespace, Faults: &contracttest.Faults{}, Journal: &contracttest.Journal{}, OnWrite: s.manager.OnWrite,
		CacheTransform: network.CacheTransform,
	}
	const interval = 50 * time.Millisecond
	instance, err := host.Start(s.t.Context(), func(mgr manager.Manager, _ contracttest.Transport) error {
		if err := network.AddToScheme(mgr.GetScheme()); err != nil {
			return err
		}
		options := contract.Options{
			Types: slices.Sorted(maps.Keys(drivers)), Retry: contract.Retry{Base: 5 * time.Millisecond, Max: interval}, HealthInterval: interval,
		}
		if err := network.AddWithIntervals(mgr, drivers, images.Vector{}, options, network.Intervals{GateInterval: interval}); err != nil {
			return err
		}
		return network.AddHealth(mgr, options)
	})
	require.NoError(s.t, err)
	s.t.Cleanup(func() { assert.NoError(s.t, instance.Stop()) })
}

// testNetwork is a Network, and a client that requests it.
type testNetwork struct {
	*contracttest.Gardenlet[*extensionsv1alpha1.Network]
	seed *seed
}

// requestNetwork asks for a Network.
func (s *seed) requestNetwork(name, networkType string) *testNetwork {
	s.t.Helper()
	object := &extensionsv1alpha1.Network{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: name}}
	object.Spec = extensionsv1alpha1.NetworkSpec{
		DefaultSpec: extensionsv1alpha1.DefaultSpec{Type: networkType}, PodCIDR: "100.96.0.0/11", ServiceCIDR: "100.64.0.0/13",
		IPFamilies: []extensionsv1alpha1.IPFamily{extensionsv1alpha1.IPFamilyIPv4},
	}
	gardenlet := contracttest.NewGardenlet(s.server, client.ObjectKeyFromObject(object), func() *extensionsv1alpha1.Network { return &extensionsv1alpha1.Network{} })
	require.NoError(s.t, gardenlet.Deploy(s.t.Context(), object, "reconcile"))
	return &testNetwork{Gardenlet: gardenlet, seed: s}
}

// waitReady waits until the Network is.
func (a *testNetwork) waitReady() *extensionsv1alpha1.Network {
	a.seed.t.Helper()
	object, err := a.WaitReady(a.seed.t.Context())
	require.NoError(a.seed.t, err)
	return object
}

// reconcileAgain orders a reconciliation and waits for it.
func (a *testNetwork) reconcileAgain() *extensionsv1alpha1.Network {
	a.seed.t.Helper()
	require.NoError(a.seed.t, a.Backdate(a.seed.t.Context(), time.Minute))
	require.NoError(a.seed.t, a.Request(a.seed.t.Context(), "reconcile"))
	return a.waitReady()
}

// waitFailed waits until an error is reported.
func (a *testNetwork) waitFailed() *gardencorev1beta1.LastError {
	a.seed.t.Helper()
	object, err := a.WaitFor(a.seed.t.Context(), func(object *extensionsv1alpha1.Network) error {
		if object.Status.LastError != nil {
			return nil
		}
		return assert.AnError
	})
	require.NoError(a.seed.t, err)
	return object.Status.LastError
}

// waitHealthy waits until all conditions are True.
func (a *testNetwork) waitHealthy() {
	a.seed.t.Helper()
	_, err := a.WaitFor(a.seed.t.Context(), func(object *extensionsv1alpha1.Network) error {
		conditions := map[gardencorev1beta1.ConditionType]bool{}
		for _, condition := range object.Status.Conditions {
			conditions[condition.Type] = condition.Status == gardencorev1beta1.ConditionTrue
		}
		if conditions[gardencorev1beta1.ShootSystemComponentsHealthy] && conditions[gardencorev1beta1.ShootObservabilityComponentsHealthy] {
			return health.CheckExtensionObject(object)
		}
		return assert.AnError
	})
	require.NoError(a.seed.t, err)
}

// deployUpstream makes what another extension has deployed for a type.
func (s *seed) deployUpstream(networkType string, objects ...client.Object) {
	s.t.Helper()
	meta := metav1.ObjectMeta{Namespace: s.namespace, Name: "extension-networking-" + networkType + "-config"}
	secret := &corev1.Secret{ObjectMeta: meta, Data: map[string][]byte{}}
	for _, object := range objects {
		raw, err := json.Marshal(object)
		require.NoError(s.t, err)
		secret.Data[object.GetName()+".json"] = raw
	}
	require.NoError(s.t, s.Create(s.t.Context(), secret))
	resource := &resourcesv1alpha1.ManagedResource{ObjectMeta: meta}
	resource.Spec.SecretRefs = []corev1.LocalObjectReference{{Name: meta.Name}}
	require.NoError(s.t, s.Create(s.t.Context(), resource))
	require.NoError(s.t, s.manager.ReconcileAll(s.t.Context()))
	s.manager.Shoot().ClearHistory()
}

func (s *seed) exists(object client.Object) bool {
	s.t.Helper()
	err := s.Get(s.t.Context(), client.ObjectKeyFromObject(object), object)
	require.NoError(s.t, client.IgnoreNotFound(err))
	return !apierrors.IsNotFound(err)
}
