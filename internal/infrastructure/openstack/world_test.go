package openstack

import (
	"context"
	"encoding/json"
	"sync"
	"testing"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/go-logr/logr"
	"github.com/go-logr/logr/testr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"

	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	cloudopenstack "github.com/trellis-garden/trellis/internal/cloud/openstack"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/wire"
	"github.com/trellis-garden/trellis/internal/contract"
	"github.com/trellis-garden/trellis/internal/infrastructure"
)

const (
	technicalID = "shoot--dev--one"
	shootUID    = "5f0c9a52-3c1e-4f6b-9d39-8a1f6f1f7a11"
	sshKey      = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIE6avINCr/HKsqzWPdAE9Z4++8MVX2co4AByL5a1c4md shoot"
	otherKey    = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGdJpf7z2lkNmacSAWu0LO8Coc3TQpEqb1E+gFr4Jzow other"
)

// world is a cloud, a driver with a session of its own, and one shoot whose status survives between passes as it does in
// the API server.
type world struct {
	t        *testing.T
	cloud    *fake.Cloud
	driver   *Driver
	sessions *cloudopenstack.Sessions
	config   *openstackv1alpha1.InfrastructureConfig
	profile  *openstackv1alpha1.CloudProfileConfig
	shoot    *gardencorev1beta1.Shoot
	infra    *extensionsv1alpha1.Infrastructure
	secret   map[string][]byte

	attempted bool
	// beforeSave is asked before the state is saved; an error keeps it from being saved.
	beforeSave func() error
	// onSave is told what is saved.
	onSave func(data map[string]string)
	log    logr.Logger
}

func newWorld(t *testing.T, options ...fake.Option) *world {
	t.Helper()
	cloud := fake.New(options...)
	require.NoError(t, cloud.Start("127.0.0.1:0"))
	t.Cleanup(func() { require.NoError(t, cloud.Close()) })
	sessions := newSessions()
	w := &world{
		t: t, cloud: cloud, sessions: sessions, driver: New(sessions), log: testr.New(t),
		config: &openstackv1alpha1.InfrastructureConfig{
			FloatingPoolName: fake.ExternalNetwork,
			Networks:         openstackv1alpha1.Networks{Workers: "10.250.0.0/19"},
		},
		profile: &openstackv1alpha1.CloudProfileConfig{
			Constraints: openstackv1alpha1.Constraints{FloatingPools: []openstackv1alpha1.FloatingPool{{Name: fake.ExternalNetwork}}},
			KeyStoneURL: cloud.AuthURL(), DNSServers: []string{"1.1.1.1", "2606:4700:4700::1111"},
		},
		shoot: &gardencorev1beta1.Shoot{Spec: gardencorev1beta1.ShootSpec{Networking: &gardencorev1beta1.Networking{
			Nodes: new("10.250.0.0/16"), Pods: new("100.96.0.0/11"), Services: new("100.64.0.0/13"),
			IPFamilies: []gardencorev1beta1.IPFamily{gardencorev1beta1.IPFamilyIPv4},
		}}},
		infra: &extensionsv1alpha1.Infrastructure{Spec: extensionsv1alpha1.InfrastructureSpec{
			Region: fake.DefaultRegion, SSHPublicKey: []byte(sshKey),
		}},
		secret: map[string][]byte{
			"domainName": []byte(fake.DefaultDomain), "tenantName": []byte(fake.DefaultProject),
			"username": []byte(fake.DefaultUser), "password": []byte(fake.DefaultPassword),
		},
	}
	w.warmUp()
	return w
}

func newSessions() *cloudopenstack.Sessions {
	return cloudopenstack.NewSessions(cloudopenstack.Options{Retry: cloudopenstack.RetryPolicy{FirstPause: time.Millisecond}})
}

// warmUp logs in, so that budgets are those of a warm session.
// openFloatingSubnets lets the project see and choose the subnets of external networks, which a stock cloud does not.
func (w *world) openFloatingSubnets() {
	w.cloud.SetPolicy(fake.Policy{SeeExternalSubnets: true, SetGatewaySubnet: true})
}

// selectFloatingSubnet says in which subnet of the floating network the router's address lies.
func (w *world) selectFloatingSubnet(pattern string) {
	w.openFloatingSubnets()
	w.config.FloatingPoolSubnetName = new(pattern)
}

func (w *world) warmUp() {
	w.t.Helper()
	w.session()
	w.cloud.ResetLog()
}

// restart is what a killed process is followed by: no session, no memory.
func (w *world) restart() {
	w.t.Helper()
	w.cloud.SetHook(nil)
	w.cloud.ClearFaults()
	w.beforeSave = nil
	require.NoError(w.t, w.cloud.WaitIdle(w.t.Context()))
	w.sessions = newSessions()
	w.driver = New(w.sessions)
	w.warmUp()
}

func (w *world) input() *infrastructure.Shoot {
	w.t.Helper()
	infra := w.infra.DeepCopy()
	infra.Spec.ProviderConfig = w.encode(w.config)
	return &infrastructure.Shoot{
		Infrastructure: infra,
		Cluster: &contract.Cluster{Shoot: w.shoot, CloudProfile: &gardencorev1beta1.CloudProfile{
			Spec: gardencorev1beta1.CloudProfileSpec{ProviderConfig: w.encode(w.profile)},
		}},
		Credentials: w.secret, TechnicalID: technicalID, UID: shootUID, FirstAttempt: !w.attempted, Log: w.log,
	}
}

func (w *world) encode(object runtime.Object) *runtime.RawExtension {
	w.t.Helper()
	raw, err := openstackv1alpha1.Encode(object)
	require.NoError(w.t, err)
	return raw
}

func (w *world) reconcile() (*infrastructure.Outcome, error) {
	w.t.Helper()
	shoot, track := w.input(), &savingTrack{world: w}
	w.attempted = true
	require.Empty(w.t, w.driver.Validate(shoot))
	outcome, err := w.driver.Reconcile(w.t.Context(), shoot, track)
	if err == nil {
		track.Achieved(outcome.State)
		w.infra.Status.ProviderStatus = w.marshal(outcome.ProviderStatus)
	}
	return outcome, err
}

func (w *world) mustReconcile() *infrastructure.Outcome {
	w.t.Helper()
	outcome, err := w.reconcile()
	require.NoError(w.t, err)
	return outcome
}

func (w *world) delete() error {
	w.t.Helper()
	shoot := w.input()
	w.attempted = true
	return w.driver.Delete(w.t.Context(), shoot, &savingTrack{world: w})
}

func (w *world) mustDelete() {
	w.t.Helper()
	require.NoError(w.t, w.delete())
}

func (w *world) marshal(object any) *runtime.RawExtension {
	w.t.Helper()
	raw, err := json.Marshal(object)
	require.NoError(w.t, err)
	return &runtime.RawExtension{Raw: raw}
}

// state is what is saved.
func (w *world) state() map[string]string {
	w.t.Helper()
	if w.infra.Status.State == nil {
		return nil
	}
	var state openstackv1alpha1.InfrastructureState
	require.NoError(w.t, json.Unmarshal(w.infra.Status.State.Raw, &state))
	return state.Data
}

// forget loses the state, as when nobody could save it.
func (w *world) forget() {
	w.infra.Status.State, w.infra.Status.ProviderStatus = nil, nil
}

// calls returns the log since the last call of it.
func (w *world) calls() wire.Calls {
	calls := w.cloud.Log()
	w.cloud.ResetLog()
	return calls
}

// plant makes a resource that is not the driver's.
func (w *world) plant(collection string, attrs fake.Attrs) string {
	w.t.Helper()
	id, err := w.cloud.Plant(fake.DefaultProject, collection, attrs)
	require.NoError(w.t, err)
	return id
}

// operate does something behind the driver's back.
func (w *world) operate(method string, service wire.Service, path string, body any) map[string]any {
	w.t.Helper()
	out, err := w.cloud.Operate(fake.DefaultProject, method, service, path, body)
	require.NoError(w.t, err)
	return out
}

// there is what the shoot's account has.
func (w *world) there() fake.State { return w.cloud.State(fake.DefaultProject) }

// session is a line of the test's own to the cloud, with the shoot's credentials.
func (w *world) session() *cloudopenstack.Session {
	w.t.Helper()
	credentials, err := (&inputs{profile: w.profile}).credentials(w.input())
	require.NoError(w.t, err)
	session, err := w.sessions.Get(w.t.Context(), credentials, fake.DefaultRegion)
	require.NoError(w.t, err)
	return session
}

// unchanged asserts that the account has exactly what it had.
func (w *world) unchanged(before fake.State) {
	w.t.Helper()
	came, went := fake.Diff(before, w.there())
	assert.Empty(w.t, came, "left behind")
	assert.Empty(w.t, went, "gone although not the shoot's")
}

// savingTrack runs graphs as the runtime does, and saves at once.
type savingTrack struct {
	world *world
	mutex sync.Mutex
}

func (s *savingTrack) Intend(_ context.Context, state any) error {
	if s.world.beforeSave != nil {
		if err := s.world.beforeSave(); err != nil {
			return err
		}
	}
	s.save(state)
	return nil
}

func (s *savingTrack) Achieved(state any) {
	if s.world.beforeSave != nil && s.world.beforeSave() != nil {
		return
	}
	s.save(state)
}

func (s *savingTrack) save(state any) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	raw, err := json.Marshal(state)
	if err != nil {
		panic(err)
	}
	s.world.infra.Status.State = &runtime.RawExtension{Raw: raw}
	if s.world.onSave != nil {
		s.world.onSave(s.world.state())
	}
}

func (s *savingTrack) Run(ctx context.Context, graph *contract.Graph) error {
	return graph.Run(ctx, logr.Discard(), nil)
}
