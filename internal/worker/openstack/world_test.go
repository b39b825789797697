package openstack

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/go-logr/logr/testr"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	cloudopenstack "github.com/trellis-garden/trellis/internal/cloud/openstack"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/wire"
	"github.com/trellis-garden/trellis/internal/contract"
	"github.com/trellis-garden/trellis/internal/worker"
)

const (
	technicalID = "shoot--dev--one"
	shootUID    = "5f0c9a52-3c1e-4f6b-9d39-8a1f6f1f7a11"
	networkID   = "aaaaaaaa-0000-4000-8000-000000000001"
	storageID   = "aaaaaaaa-0000-4000-8000-000000000002"
	imageID     = "bbbbbbbb-0000-4000-8000-000000000001"
)

// world is a shoot whose status survives between passes as it does in the API server, and a driver.
type world struct {
	t       *testing.T
	driver  *Driver
	profile *openstackv1alpha1.CloudProfileConfig
	// object is the CloudProfile around profile.
	object  *gardencorev1beta1.CloudProfile
	shoot   *gardencorev1beta1.Shoot
	infra   *openstackv1alpha1.InfrastructureStatus
	pools   []extensionsv1alpha1.WorkerPool
	configs []*openstackv1alpha1.WorkerConfig
	status  *runtime.RawExtension
	secret  map[string][]byte
	ranges  []string
	// deleting is true in a deletion.
	deleting bool
	// cloud is nil where none is needed.
	cloud *fake.Cloud
}

// newWorld is a shoot with one plain pool, and no cloud.
func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{
		t: t, driver: New(nil),
		profile: &openstackv1alpha1.CloudProfileConfig{
			ServerGroupPolicies: []string{"soft-anti-affinity", "anti-affinity", "affinity"},
			MachineImages: []openstackv1alpha1.MachineImages{{Name: "gardenlinux", Versions: []openstackv1alpha1.MachineImageVersion{
				{Version: "1877.3.0", Image: "gardenlinux-1877.3", Regions: []openstackv1alpha1.RegionIDMapping{
					{Name: fake.DefaultRegion, ID: imageID}, {Name: fake.DefaultRegion, ID: "bbbbbbbb-0000-4000-8000-000000000002", Architecture: new("arm64")},
				}},
				{Version: "1592.1.0", Image: "gardenlinux-1592.1"},
				{Version: "2000.0.0", CapabilityFlavors: []openstackv1alpha1.MachineImageFlavor{
					{Image: "plain", Capabilities: gardencorev1beta1.Capabilities{"architecture": {"amd64"}, "boot": {"bios"}}},
					{Image: "modern", Capabilities: gardencorev1beta1.Capabilities{"architecture": {"amd64"}, "boot": {"uefi"}}},
				}},
			}}},
		},
		object: &gardencorev1beta1.CloudProfile{Spec: gardencorev1beta1.CloudProfileSpec{MachineTypes: []gardencorev1beta1.MachineType{
			{Name: "small"},
			{Name: "hollow", Storage: &gardencorev1beta1.MachineTypeStorage{Type: "premium", StorageSize: new(resource.MustParse("64Gi"))}},
			{Name: "ordinary", Storage: &gardencorev1beta1.MachineTypeStorage{Type: "default", StorageSize: new(resource.MustParse("64Gi"))}},
			{Name: "old-board", Capabilities: gardencorev1beta1.Capabilities{"boot": {"bios"}}},
		}}},
		shoot: &gardencorev1beta1.Shoot{},
		infra: openstackv1alpha1.NewInfrastructureStatus(),
		secret: map[string][]byte{
			"domainName": []byte(fake.DefaultDomain), "tenantName": []byte(fake.DefaultProject),
			"username": []byte(fake.DefaultUser), "password": []byte(fake.DefaultPassword),
		},
		ranges: []string{"100.96.0.0/11"},
	}
	w.shoot.UID = types.UID(shootUID)
	w.infra.Networks.ID = networkID
	w.infra.Networks.Subnets = []openstackv1alpha1.Subnet{
		{Purpose: openstackv1alpha1.PurposePods, ID: "subnet-of-pods"}, {Purpose: openstackv1alpha1.PurposeNodes, ID: "subnet-of-nodes"},
	}
	w.infra.Node.KeyName = "key-of-one"
	w.infra.SecurityGroups = []openstackv1alpha1.SecurityGroup{{Purpose: openstackv1alpha1.PurposeNodes, ID: "group-of-nodes", Name: technicalID}}
	w.addPool("cpu")
	return w
}

// newCloudWorld is a shoot in a cloud, with a warm session.
func newCloudWorld(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	w.cloud = fake.New()
	require.NoError(t, w.cloud.Start("127.0.0.1:0"))
	t.Cleanup(func() { require.NoError(t, w.cloud.Close()) })
	w.profile.KeyStoneURL = w.cloud.AuthURL()
	w.restart()
	return w
}

// restart is what a killed process is followed by. It logs in, so that calls are those of a warm session.
func (w *world) restart() {
	w.t.Helper()
	w.cloud.SetHook(nil)
	w.cloud.ClearFaults()
	require.NoError(w.t, w.cloud.WaitIdle(w.t.Context()))
	w.driver = New(cloudopenstack.NewSessions(cloudopenstack.Options{Retry: cloudopenstack.RetryPolicy{FirstPause: time.Millisecond}}))
	w.session()
	w.cloud.ResetLog()
}

func (w *world) session() *cloudopenstack.Session {
	w.t.Helper()
	in, errs := decodeInputs(w.input())
	require.Empty(w.t, errs)
	session, err := w.driver.session(w.t.Context(), w.input(), in)
	require.NoError(w.t, err)
	return session
}

// addPool adds a pool with its configuration.
func (w *world) addPool(name string) (*extensionsv1alpha1.WorkerPool, *openstackv1alpha1.WorkerConfig) {
	w.pools = append(w.pools, extensionsv1alpha1.WorkerPool{
		Name: name, MachineType: "small", Zones: []string{"nova", "north"},
		MachineImage:        extensionsv1alpha1.MachineImage{Name: "gardenlinux", Version: "1877.3.0"},
		Labels:              map[string]string{"worker.gardener.cloud/pool": name},
		NodeAgentSecretName: new("gardener-node-agent-" + name + "-77ac3"),
	})
	w.configs = append(w.configs, &openstackv1alpha1.WorkerConfig{})
	return &w.pools[len(w.pools)-1], w.configs[len(w.configs)-1]
}

// ask has a pool ask for a server group, or for none.
func (w *world) ask(pool, policy string) {
	for i := range w.pools {
		if w.pools[i].Name == pool {
			w.configs[i].ServerGroup = &openstackv1alpha1.ServerGroup{Policy: policy}
			if policy == "" {
				w.configs[i].ServerGroup = nil
			}
		}
	}
}

func (w *world) removePool(name string) {
	i := slices.IndexFunc(w.pools, func(pool extensionsv1alpha1.WorkerPool) bool { return pool.Name == name })
	w.pools, w.configs = slices.Delete(w.pools, i, i+1), slices.Delete(w.configs, i, i+1)
}

func (w *world) input() *worker.Shoot {
	w.t.Helper()
	object := w.object.DeepCopy()
	object.Spec.ProviderConfig = w.encode(w.profile)
	resource := &extensionsv1alpha1.Worker{Spec: extensionsv1alpha1.WorkerSpec{Region: fake.DefaultRegion}}
	resource.Spec.InfrastructureProviderStatus = w.encode(w.infra)
	resource.Status.ProviderStatus = w.status
	for i, pool := range w.pools {
		pool.ProviderConfig = w.encode(w.configs[i])
		resource.Spec.Pools = append(resource.Spec.Pools, *pool.DeepCopy())
	}
	return &worker.Shoot{
		Worker: resource, Cluster: &contract.Cluster{Shoot: w.shoot, CloudProfile: object}, Credentials: w.secret,
		TechnicalID: technicalID, UID: shootUID, PodRanges: w.ranges, Deleting: w.deleting, Log: testr.New(w.t),
	}
}

func (w *world) encode(object runtime.Object) *runtime.RawExtension {
	w.t.Helper()
	raw, err := openstackv1alpha1.Encode(object)
	require.NoError(w.t, err)
	return raw
}

// record saves what a driver says as the contract does.
func (w *world) record(status runtime.Object) {
	w.t.Helper()
	raw, err := json.Marshal(status)
	require.NoError(w.t, err)
	w.status = &runtime.RawExtension{Raw: raw}
}

// recorded is what is saved, as the contract hands it over in a deletion.
func (w *world) recorded() runtime.Object {
	if w.status == nil {
		return nil
	}
	return &runtime.Unknown{Raw: w.status.Raw, ContentType: runtime.ContentTypeJSON}
}

// reconcile is a pass: what Prepare says is published, machines are planned, and when they are as wanted, Tidy follows.
func (w *world) reconcile() error {
	w.t.Helper()
	shoot := w.input()
	require.Empty(w.t, w.driver.Validate(shoot))
	status, err := w.driver.Prepare(w.t.Context(), shoot)
	if err != nil {
		return err
	}
	w.record(status)
	for i := range shoot.Worker.Spec.Pools {
		if _, err := w.driver.Machines(shoot, status, &shoot.Worker.Spec.Pools[i]); err != nil {
			return err
		}
	}
	if status, err = w.driver.Tidy(w.t.Context(), shoot, status); err != nil {
		return err
	}
	w.record(status)
	return nil
}

func (w *world) mustReconcile() {
	w.t.Helper()
	require.NoError(w.t, w.reconcile())
}

func (w *world) delete() error {
	w.t.Helper()
	w.deleting = true
	defer func() { w.deleting = false }()
	status, err := w.driver.Tidy(w.t.Context(), w.input(), w.recorded())
	if err == nil {
		w.record(status)
	}
	return err
}

// dependencies are the server groups on record.
func (w *world) dependencies() []openstackv1alpha1.ServerGroupDependency {
	w.t.Helper()
	status, err := openstackv1alpha1.DecodeWorkerStatus(w.status)
	require.NoError(w.t, err)
	return status.ServerGroupDependencies
}

// there are the names of the project's server groups.
func (w *world) there() []string {
	var names []string
	for _, group := range w.cloud.State(fake.DefaultProject).ServerGroups {
		names = append(names, group.Name)
	}
	slices.Sort(names)
	return names
}

// calls returns the log since the last call of it.
func (w *world) calls() wire.Calls {
	calls := w.cloud.Log()
	w.cloud.ResetLog()
	return calls
}
