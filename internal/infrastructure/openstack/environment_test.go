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
	"github.com/trellis-garden/trellis/internal/cloud/transport"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
	"github.com/trellis-garden/trellis/internal/contract"
	"github.com/trellis-garden/trellis/internal/infrastructure"
)

const (
	technicalID = "shoot--dev--one"
	shootUID    = "5f0c9a52-3c1e-4f6b-9d39-8a1f6f1f7a11"
	sshKey      = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIE6avINCr/HKsqzWPdAE9Z4++8MVX2co4AByL5a1c4md shoot"
	otherKey    = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGdJpf7z2lkNmacSAWu0LO8Coc3TQpEqb1E+gFr4Jzow other"
)

// environment is a cloud, a driver with a session of its own, and one shoot whose status survives between passes as it does in
// the API server.
type environment struct {
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
	// fullCheckInterval is that of the drivers of new processes.
	fullCheckInterval time.Duration
	// beforeSave is asked before the state is saved; an error keeps it from being saved.
	beforeSave func() error
	// onSave is told what is saved.
	onSave func(data map[string]string)
	log    logr.Logger
}

func newEnvironment(t *testing.T, options ...fake.Option) *environment {
	t.Helper()
	cloud := fake.New(options...)
	require.NoError(t, cloud.Start("127.0.0.1:0"))
	t.Cleanup(func() { require.NoError(t, cloud.Close()) })
	sessions := newSessions()
	env := &environment{
		t: t, cloud: cloud, sessions: sessions, driver: New(sessions, Options{}), log: testr.New(t),
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
	env.logIn()
	return env
}

func newSessions() *cloudopenstack.Sessions {
	return cloudopenstack.NewSessions(cloudopenstack.Options{Retry: transport.RetryPolicy{FirstPause: time.Millisecond}})
}

// logIn logs in, so that budgets are those of a warm session.
// openFloatingSubnets lets the project see and choose the subnets of external networks, which a stock cloud does not.
func (env *environment) openFloatingSubnets() {
	env.cloud.SetPolicy(fake.Policy{SeeExternalSubnets: true, SetGatewaySubnet: true})
}

// selectFloatingSubnet says in which subnet of the floating network the router's address lies.
func (env *environment) selectFloatingSubnet(pattern string) {
	env.openFloatingSubnets()
	env.config.FloatingPoolSubnetName = new(pattern)
}

func (env *environment) logIn() {
	env.t.Helper()
	env.session()
	env.cloud.ResetLog()
}

// restart is what a killed process is followed by: no session, no memory.
func (env *environment) restart() {
	env.t.Helper()
	env.cloud.SetHook(nil)
	env.cloud.ClearFaults()
	env.beforeSave = nil
	require.NoError(env.t, env.cloud.WaitIdle(env.t.Context()))
	env.sessions = newSessions()
	env.driver = New(env.sessions, Options{FullCheckInterval: env.fullCheckInterval})
	env.logIn()
}

func (env *environment) input() *infrastructure.Shoot {
	env.t.Helper()
	infra := env.infra.DeepCopy()
	infra.Spec.ProviderConfig = env.encode(env.config)
	return &infrastructure.Shoot{
		Infrastructure: infra,
		Cluster: &contract.Cluster{Shoot: env.shoot, CloudProfile: &gardencorev1beta1.CloudProfile{
			Spec: gardencorev1beta1.CloudProfileSpec{ProviderConfig: env.encode(env.profile)},
		}},
		Credentials: env.secret, TechnicalID: technicalID, UID: shootUID, FirstAttempt: !env.attempted, Log: env.log,
	}
}

func (env *environment) encode(object runtime.Object) *runtime.RawExtension {
	env.t.Helper()
	raw, err := openstackv1alpha1.Encode(object)
	require.NoError(env.t, err)
	return raw
}

func (env *environment) reconcile() (*infrastructure.Outcome, error) {
	env.t.Helper()
	shoot, recorder := env.input(), &savingRecorder{env: env}
	env.attempted = true
	require.Empty(env.t, env.driver.Validate(shoot))
	outcome, err := env.driver.Reconcile(env.t.Context(), shoot, recorder)
	env.setLastOperation(gardencorev1beta1.LastOperationStateError)
	if err == nil {
		env.setLastOperation(gardencorev1beta1.LastOperationStateSucceeded)
	}
	if err == nil && !outcome.Unchanged {
		recorder.RecordState(outcome.State)
		env.infra.Status.ProviderStatus = env.marshal(outcome.ProviderStatus)
	}
	return outcome, err
}

func (env *environment) setLastOperation(state gardencorev1beta1.LastOperationState) {
	env.infra.Status.LastOperation = &gardencorev1beta1.LastOperation{Type: gardencorev1beta1.LastOperationTypeReconcile, State: state}
}

func (env *environment) mustReconcile() *infrastructure.Outcome {
	env.t.Helper()
	outcome, err := env.reconcile()
	require.NoError(env.t, err)
	return outcome
}

// forgetShoot begins with a new shoot of the same account, which uses the same driver.
func (env *environment) forgetShoot() {
	env.clearStatus()
	env.infra.Status.LastOperation = nil
	env.attempted = false
}

func (env *environment) delete() error {
	env.t.Helper()
	shoot := env.input()
	env.attempted = true
	return env.driver.Delete(env.t.Context(), shoot, &savingRecorder{env: env})
}

func (env *environment) mustDelete() {
	env.t.Helper()
	require.NoError(env.t, env.delete())
}

func (env *environment) marshal(object any) *runtime.RawExtension {
	env.t.Helper()
	raw, err := json.Marshal(object)
	require.NoError(env.t, err)
	return &runtime.RawExtension{Raw: raw}
}

// state is what is saved.
func (env *environment) state() map[string]string {
	env.t.Helper()
	if env.infra.Status.State == nil {
		return nil
	}
	var state openstackv1alpha1.InfrastructureState
	require.NoError(env.t, json.Unmarshal(env.infra.Status.State.Raw, &state))
	return state.Data
}

// clearStatus loses the state, as when nobody could save it.
func (env *environment) clearStatus() {
	env.infra.Status.State, env.infra.Status.ProviderStatus = nil, nil
}

// takeCalls returns the log since the last call of it.
func (env *environment) takeCalls() wire.Calls {
	calls := env.cloud.Log()
	env.cloud.ResetLog()
	return calls
}

// plant makes a resource that is not the driver's.
func (env *environment) plant(collection string, attrs fake.Attrs) string {
	env.t.Helper()
	id, err := env.cloud.CreateResource(fake.DefaultProject, collection, attrs)
	require.NoError(env.t, err)
	return id
}

// operate does something behind the driver's back.
func (env *environment) operate(method string, service wire.Service, path string, body any) map[string]any {
	env.t.Helper()
	out, err := env.cloud.DoAsOperator(fake.DefaultProject, method, service, path, body)
	require.NoError(env.t, err)
	return out
}

// resources is what the shoot's account has.
func (env *environment) resources() fake.State { return env.cloud.State(fake.DefaultProject) }

// session is a line of the test's own to the cloud, with the shoot's credentials.
func (env *environment) session() *cloudopenstack.Session {
	env.t.Helper()
	credentials, err := (&inputs{profile: env.profile}).credentials(env.input())
	require.NoError(env.t, err)
	session, err := env.sessions.Get(env.t.Context(), credentials, fake.DefaultRegion)
	require.NoError(env.t, err)
	return session
}

// assertUnchanged asserts that the account has exactly what it had.
func (env *environment) assertUnchanged(before fake.State) {
	env.t.Helper()
	created, deleted := fake.Diff(before, env.resources())
	assert.Empty(env.t, created, "left behind")
	assert.Empty(env.t, deleted, "gone although not the shoot's")
}

// savingRecorder runs graphs as the runtime does, and saves at once.
type savingRecorder struct {
	env   *environment
	mutex sync.Mutex
}

func (s *savingRecorder) RecordIntent(_ context.Context, state any) error {
	if s.env.beforeSave != nil {
		if err := s.env.beforeSave(); err != nil {
			return err
		}
	}
	s.save(state)
	return nil
}

func (s *savingRecorder) RecordState(state any) {
	if s.env.beforeSave != nil && s.env.beforeSave() != nil {
		return
	}
	s.save(state)
}

func (s *savingRecorder) save(state any) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	raw, err := json.Marshal(state)
	if err != nil {
		panic(err)
	}
	s.env.infra.Status.State = &runtime.RawExtension{Raw: raw}
	if s.env.onSave != nil {
		s.env.onSave(s.env.state())
	}
}

func (s *savingRecorder) Run(ctx context.Context, graph *contract.Graph) error {
	return graph.Run(ctx, logr.Discard(), nil)
}
