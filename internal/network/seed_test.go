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

// fence is a plugin of one ConfigMap, and all that a plugin needs to be one.
type fence struct {
	// staged has changes go in a stage that waits for what the gate says.
	staged *network.Gate
	// retired are the names of ConfigMaps that another extension leaves in the seed.
	retired []string
	// needsHost is that of network.Capabilities.NeedsAPIServerHost.
	needsHost bool
	// told keeps what the driver was told of what is deployed.
	told *told
}

func (f fence) Capabilities(*network.Shoot) network.Capabilities {
	return network.Capabilities{NeedsAPIServerHost: f.needsHost}
}

func (fence) Validate(*network.Shoot) field.ErrorList { return nil }

func (f fence) Render(shoot *network.Shoot) (*network.Rendering, error) {
	rendering := &network.Rendering{Shoot: []client.Object{posts("kube-system", "fence")}, Form: "wooden"}
	for _, name := range f.retired {
		rendering.Retired = append(rendering.Retired, posts(shoot.Network.Namespace, name))
	}
	return rendering, nil
}

func (f fence) Transition(shoot *network.Shoot, wanted *network.Rendering) (*network.Stage, error) {
	f.told.add(shoot.Deployed)
	if f.staged == nil || shoot.Deployed.Settled {
		return nil, nil
	}
	return &network.Stage{Name: "setting posts", Rendering: &network.Rendering{Shoot: wanted.Shoot, Form: "posts"}, Gate: *f.staged}, nil
}

type told struct {
	mutex    sync.Mutex
	deployed []network.Deployed
}

func (t *told) add(deployed network.Deployed) {
	if t == nil {
		return
	}
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.deployed = append(t.deployed, deployed)
}

// take returns what came since it was asked last.
func (t *told) take() []network.Deployed {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	deployed := t.deployed
	t.deployed = nil
	return deployed
}

func posts(namespace, name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Data: map[string]string{"posts": "4"},
	}
}

// seed is a namespace with a shoot in it, for which a process brings networks into being.
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
		manager: contracttest.NewResourceManager(server, namespace, contracttest.NewRecord()),
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
		Server: s.server, Namespace: s.namespace, Faults: &contracttest.Faults{}, Journal: &contracttest.Journal{}, Bystander: s.manager.Bystander,
	}
	const interval = 50 * time.Millisecond
	life, err := host.Start(s.t.Context(), func(mgr manager.Manager, _ contracttest.Transport) error {
		if err := network.AddToScheme(mgr.GetScheme()); err != nil {
			return err
		}
		options := contract.Options{
			Types: slices.Sorted(maps.Keys(drivers)), Retry: contract.Retry{Base: 5 * time.Millisecond, Max: interval}, HealthInterval: interval,
		}
		if err := network.AddPaced(mgr, drivers, images.Vector{}, options, network.Pace{Interval: interval}); err != nil {
			return err
		}
		return network.AddHealth(mgr, options)
	})
	require.NoError(s.t, err)
	s.t.Cleanup(func() { assert.NoError(s.t, life.Stop()) })
}

// asked is a Network, and somebody who asks for it.
type asked struct {
	*contracttest.Gardenlet[*extensionsv1alpha1.Network]
	seed *seed
}

// ask asks for a Network.
func (s *seed) ask(name, networkType string) *asked {
	s.t.Helper()
	object := &extensionsv1alpha1.Network{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: name}}
	object.Spec = extensionsv1alpha1.NetworkSpec{
		DefaultSpec: extensionsv1alpha1.DefaultSpec{Type: networkType}, PodCIDR: "100.96.0.0/11", ServiceCIDR: "100.64.0.0/13",
		IPFamilies: []extensionsv1alpha1.IPFamily{extensionsv1alpha1.IPFamilyIPv4},
	}
	gardenlet := contracttest.NewGardenlet(s.server, client.ObjectKeyFromObject(object), func() *extensionsv1alpha1.Network { return &extensionsv1alpha1.Network{} })
	require.NoError(s.t, gardenlet.Deploy(s.t.Context(), object, "reconcile"))
	return &asked{Gardenlet: gardenlet, seed: s}
}

// ready waits until the Network is.
func (a *asked) ready() *extensionsv1alpha1.Network {
	a.seed.t.Helper()
	object, err := a.WaitReady(a.seed.t.Context())
	require.NoError(a.seed.t, err)
	return object
}

// again orders a reconciliation and waits for it.
func (a *asked) again() *extensionsv1alpha1.Network {
	a.seed.t.Helper()
	require.NoError(a.seed.t, a.Age(a.seed.t.Context(), time.Minute))
	require.NoError(a.seed.t, a.Request(a.seed.t.Context(), "reconcile"))
	return a.ready()
}

// failed waits until an error is told.
func (a *asked) failed() *gardencorev1beta1.LastError {
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

// healthy waits until all conditions are True.
func (a *asked) healthy() {
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

// upstreams makes what another extension has deployed for a type.
func (s *seed) upstreams(networkType string, objects ...client.Object) {
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
	require.NoError(s.t, s.manager.ServeAll(s.t.Context()))
	s.manager.Shoot().Forget()
}

func (s *seed) has(object client.Object) bool {
	s.t.Helper()
	err := s.Get(s.t.Context(), client.ObjectKeyFromObject(object), object)
	require.NoError(s.t, client.IgnoreNotFound(err))
	return !apierrors.IsNotFound(err)
}
