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
	"github.com/trellis-garden/trellis/internal/cloud/transport"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
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

// environment is a driver and a shoot whose status is kept between reconciliations as in the API server.
type environment struct {
	t       *testing.T
	driver  *Driver
	profile *openstackv1alpha1.CloudProfileConfig
	// object is the CloudProfile with profile.
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
	// cloud is nil if none is needed.
	cloud *fake.Cloud
}

// newEnvironment returns a shoot with one plain pool, without a cloud.
func newEnvironment(t *testing.T) *environment {
	t.Helper()
	env := &environment{
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
			{Name: "without-disk", Storage: &gardencorev1beta1.MachineTypeStorage{Type: "premium", StorageSize: new(resource.MustParse("64Gi"))}},
			{Name: "default-storage", Storage: &gardencorev1beta1.MachineTypeStorage{Type: "default", StorageSize: new(resource.MustParse("64Gi"))}},
			{Name: "bios", Capabilities: gardencorev1beta1.Capabilities{"boot": {"bios"}}},
		}}},
		shoot: &gardencorev1beta1.Shoot{},
		infra: openstackv1alpha1.NewInfrastructureStatus(),
		secret: map[string][]byte{
			"domainName": []byte(fake.DefaultDomain), "tenantName": []byte(fake.DefaultProject),
			"username": []byte(fake.DefaultUser), "password": []byte(fake.DefaultPassword),
		},
		ranges: []string{"100.96.0.0/11"},
	}
	env.shoot.UID = types.UID(shootUID)
	env.infra.Networks.ID = networkID
	env.infra.Networks.Subnets = []openstackv1alpha1.Subnet{
		{Purpose: openstackv1alpha1.PurposePods, ID: "subnet-of-pods"}, {Purpose: openstackv1alpha1.PurposeNodes, ID: "subnet-of-nodes"},
	}
	env.infra.Node.KeyName = "key-of-one"
	env.infra.SecurityGroups = []openstackv1alpha1.SecurityGroup{{Purpose: openstackv1alpha1.PurposeNodes, ID: "group-of-nodes", Name: technicalID}}
	env.addPool("cpu")
	return env
}

// newCloudEnvironment returns a shoot in a cloud, with an existing session.
func newCloudEnvironment(t *testing.T) *environment {
	t.Helper()
	env := newEnvironment(t)
	env.cloud = fake.New()
	require.NoError(t, env.cloud.Start("127.0.0.1:0"))
	t.Cleanup(func() { require.NoError(t, env.cloud.Close()) })
	env.profile.KeyStoneURL = env.cloud.AuthURL()
	env.restart()
	return env
}

// restart creates a new driver as after a killed process, and logs in, so that calls are those of an existing session.
func (env *environment) restart() {
	env.t.Helper()
	env.cloud.SetHook(nil)
	env.cloud.ClearFaults()
	require.NoError(env.t, env.cloud.WaitIdle(env.t.Context()))
	env.driver = New(cloudopenstack.NewSessions(cloudopenstack.Options{Retry: transport.RetryPolicy{FirstPause: time.Millisecond}}))
	env.session()
	env.cloud.ResetLog()
}

func (env *environment) session() *cloudopenstack.Session {
	env.t.Helper()
	in, errs := decodeInputs(env.shootInput())
	require.Empty(env.t, errs)
	session, err := env.driver.session(env.t.Context(), env.shootInput(), in)
	require.NoError(env.t, err)
	return session
}

// addPool adds a pool with its configuration.
func (env *environment) addPool(name string) (*extensionsv1alpha1.WorkerPool, *openstackv1alpha1.WorkerConfig) {
	env.pools = append(env.pools, extensionsv1alpha1.WorkerPool{
		Name: name, MachineType: "small", Zones: []string{"nova", "north"},
		MachineImage:        extensionsv1alpha1.MachineImage{Name: "gardenlinux", Version: "1877.3.0"},
		Labels:              map[string]string{"worker.gardener.cloud/pool": name},
		NodeAgentSecretName: new("gardener-node-agent-" + name + "-77ac3"),
	})
	env.configs = append(env.configs, &openstackv1alpha1.WorkerConfig{})
	return &env.pools[len(env.pools)-1], env.configs[len(env.configs)-1]
}

// setServerGroup sets a pool's server group, or none.
func (env *environment) setServerGroup(pool, policy string) {
	for i := range env.pools {
		if env.pools[i].Name == pool {
			env.configs[i].ServerGroup = &openstackv1alpha1.ServerGroup{Policy: policy}
			if policy == "" {
				env.configs[i].ServerGroup = nil
			}
		}
	}
}

func (env *environment) removePool(name string) {
	i := slices.IndexFunc(env.pools, func(pool extensionsv1alpha1.WorkerPool) bool { return pool.Name == name })
	env.pools, env.configs = slices.Delete(env.pools, i, i+1), slices.Delete(env.configs, i, i+1)
}

func (env *environment) shootInput() *worker.Shoot {
	env.t.Helper()
	object := env.object.DeepCopy()
	object.Spec.ProviderConfig = env.encode(env.profile)
	resource := &extensionsv1alpha1.Worker{Spec: extensionsv1alpha1.WorkerSpec{Region: fake.DefaultRegion}}
	resource.Spec.InfrastructureProviderStatus = env.encode(env.infra)
	resource.Status.ProviderStatus = env.status
	for i, pool := range env.pools {
		pool.ProviderConfig = env.encode(env.configs[i])
		resource.Spec.Pools = append(resource.Spec.Pools, *pool.DeepCopy())
	}
	return &worker.Shoot{
		Worker: resource, Cluster: &contract.Cluster{Shoot: env.shoot, CloudProfile: object}, Credentials: env.secret,
		TechnicalID: technicalID, UID: shootUID, PodRanges: env.ranges, Deleting: env.deleting, Log: testr.New(env.t),
	}
}

func (env *environment) encode(object runtime.Object) *runtime.RawExtension {
	env.t.Helper()
	raw, err := openstackv1alpha1.Encode(object)
	require.NoError(env.t, err)
	return raw
}

// record stores the driver's result as the contract does.
func (env *environment) record(status runtime.Object) {
	env.t.Helper()
	raw, err := json.Marshal(status)
	require.NoError(env.t, err)
	env.status = &runtime.RawExtension{Raw: raw}
}

// recorded is the stored status, as the contract passes it in a deletion.
func (env *environment) recorded() runtime.Object {
	if env.status == nil {
		return nil
	}
	return &runtime.Unknown{Raw: env.status.Raw, ContentType: runtime.ContentTypeJSON}
}

// reconcile is a reconciliation: the result of Prepare is stored, machines are planned, and then Cleanup follows.
func (env *environment) reconcile() error {
	env.t.Helper()
	shoot := env.shootInput()
	require.Empty(env.t, env.driver.Validate(shoot))
	status, err := env.driver.Prepare(env.t.Context(), shoot)
	if err != nil {
		return err
	}
	env.record(status)
	for i := range shoot.Worker.Spec.Pools {
		if _, err := env.driver.Machines(shoot, status, &shoot.Worker.Spec.Pools[i]); err != nil {
			return err
		}
	}
	if status, err = env.driver.Cleanup(env.t.Context(), shoot, status); err != nil {
		return err
	}
	env.record(status)
	return nil
}

func (env *environment) mustReconcile() {
	env.t.Helper()
	require.NoError(env.t, env.reconcile())
}

func (env *environment) delete() error {
	env.t.Helper()
	env.deleting = true
	defer func() { env.deleting = false }()
	status, err := env.driver.Cleanup(env.t.Context(), env.shootInput(), env.recorded())
	if err == nil {
		env.record(status)
	}
	return err
}

// dependencies are the recorded server groups.
func (env *environment) dependencies() []openstackv1alpha1.ServerGroupDependency {
	env.t.Helper()
	status, err := openstackv1alpha1.DecodeWorkerStatus(env.status)
	require.NoError(env.t, err)
	return status.ServerGroupDependencies
}

// serverGroupNames are the names of the project's server groups.
func (env *environment) serverGroupNames() []string {
	var names []string
	for _, group := range env.cloud.State(fake.DefaultProject).ServerGroups {
		names = append(names, group.Name)
	}
	slices.Sort(names)
	return names
}

// calls returns the log since its last call.
func (env *environment) calls() wire.Calls {
	calls := env.cloud.Log()
	env.cloud.ResetLog()
	return calls
}
