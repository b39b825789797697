package aws

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/go-logr/logr/testr"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"

	awsv1alpha1 "github.com/trellis-garden/trellis/apis/aws/v1alpha1"
	cloudaws "github.com/trellis-garden/trellis/internal/cloud/aws"
	"github.com/trellis-garden/trellis/internal/cloud/aws/fake"
	"github.com/trellis-garden/trellis/internal/cloud/transport"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
	"github.com/trellis-garden/trellis/internal/contract"
	"github.com/trellis-garden/trellis/internal/infrastructure"
)

const (
	technicalID = "shoot--dev--one"
	shootUID    = "5f0c9a52-3c1e-4f6b-9d39-8a1f6f1f7a11"
	sshKey      = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIE6avINCr/HKsqzWPdAE9Z4++8MVX2co4AByL5a1c4md shoot"
)

// operationTimeout ends an operation that waits for what never comes. Only a failing test takes it, even on a busy machine.
const operationTimeout = time.Minute

// environment is an account, a driver with a session of its own, and one shoot whose status survives between reconciliations as it does in the API server.
type environment struct {
	t      *testing.T
	cloud  *fake.Cloud
	driver *Driver
	config *awsv1alpha1.InfrastructureConfig
	infra  *extensionsv1alpha1.Infrastructure
	secret map[string][]byte

	families  []gardencorev1beta1.IPFamily
	attempted bool
	// technicalID is that of the shoot.
	technicalID string
	// pools are the shoot's.
	pools []gardencorev1beta1.Worker
	// visibleAfter is Options.VisibleAfter of drivers from the next restart on.
	visibleAfter time.Duration
	// killed means that the process neither reaches the cloud nor saves anything.
	killed *atomic.Bool
}

// newEnvironmentIn returns another shoot in the same account.
func newEnvironmentIn(env *environment, technicalID string) *environment {
	other := *env
	other.infra, other.attempted, other.technicalID = env.infra.DeepCopy(), false, technicalID
	other.config = env.config.DeepCopy()
	return &other
}

func newEnvironment(t *testing.T, options ...fake.Option) *environment {
	t.Helper()
	cloud, err := fake.New(options...)
	require.NoError(t, err)
	require.NoError(t, cloud.Start("127.0.0.1:0"))
	t.Cleanup(func() { require.NoError(t, cloud.Close()) })
	key := fake.DefaultKey()
	env := &environment{
		t: t, cloud: cloud, technicalID: technicalID, killed: new(atomic.Bool),
		config: &awsv1alpha1.InfrastructureConfig{Networks: awsv1alpha1.Networks{VPC: awsv1alpha1.VPC{CIDR: new("10.250.0.0/16")}}},
		infra: &extensionsv1alpha1.Infrastructure{Spec: extensionsv1alpha1.InfrastructureSpec{
			Region: fake.DefaultRegion, SSHPublicKey: []byte(sshKey),
		}},
		secret: map[string][]byte{"accessKeyID": []byte(key.KeyID), "secretAccessKey": []byte(key.Secret)},
	}
	env.addZone("a", "10.250.0.0/19", "10.250.96.0/22", "10.250.112.0/22")
	env.restart()
	return env
}

// addZone adds a zone of the region to the configuration.
func (env *environment) addZone(letter, workers, public, internal string) {
	env.config.Networks.Zones = append(env.config.Networks.Zones, awsv1alpha1.Zone{
		Name: fake.DefaultRegion + letter, Workers: &workers, Public: &public, Internal: &internal,
	})
}

// restart is what a killed process is followed by: no session, no memory.
func (env *environment) restart() {
	env.killed.Store(false)
	env.cloud.SetHook(nil)
	env.driver = New(cloudaws.NewSessions(cloudaws.Options{
		Endpoint: env.cloud.URL(), QPS: -1, Retry: transport.RetryPolicy{FirstPause: time.Millisecond, LongestPause: 10 * time.Millisecond},
	}), Options{VisibleAfter: env.visibleAfter})
}

// setClock sets the driver's clock so much ahead of that of the cloud: what was created before has become visible.
func (env *environment) setClock(ahead time.Duration) {
	env.driver.now = func() time.Time { return time.Now().Add(ahead) }
}

func (env *environment) shootInput() *infrastructure.Shoot {
	raw, err := json.Marshal(env.config)
	require.NoError(env.t, err)
	var object map[string]any
	require.NoError(env.t, json.Unmarshal(raw, &object))
	object["apiVersion"], object["kind"] = "aws.provider.extensions.gardener.cloud/v1alpha1", "InfrastructureConfig"
	raw, err = json.Marshal(object)
	require.NoError(env.t, err)
	env.infra.Spec.ProviderConfig = &runtime.RawExtension{Raw: raw}
	first := !env.attempted
	env.attempted = true
	return &infrastructure.Shoot{
		Infrastructure: env.infra.DeepCopy(), Credentials: env.secret, TechnicalID: env.technicalID, UID: shootUID, FirstAttempt: first, Log: testr.New(env.t),
		Cluster: &contract.Cluster{
			Shoot: &gardencorev1beta1.Shoot{Spec: gardencorev1beta1.ShootSpec{Networking: &gardencorev1beta1.Networking{
				Nodes: new("10.250.0.0/16"), Pods: new("100.96.0.0/11"), Services: new("100.64.0.0/13"), IPFamilies: env.families,
			}, Provider: gardencorev1beta1.Provider{Workers: env.pools}}},
			CloudProfile: &gardencorev1beta1.CloudProfile{},
		},
		Decoded: &contract.Decoded{},
	}
}

// reconcile reconciles the shoot, and saves status and state as the contract does.
func (env *environment) reconcile() (*infrastructure.Outcome, error) {
	ctx, cancel := context.WithTimeout(env.t.Context(), operationTimeout)
	defer cancel()
	outcome, err := env.driver.Reconcile(ctx, env.shootInput(), env.newRecorder())
	if err != nil {
		return nil, err
	}
	env.save(outcome.State)
	env.infra.Status.ProviderStatus = env.encode(outcome.ProviderStatus)
	return outcome, nil
}

func (env *environment) mustReconcile() *infrastructure.Outcome {
	env.t.Helper()
	outcome, err := env.reconcile()
	require.NoError(env.t, err)
	return outcome
}

func (env *environment) delete() error {
	env.attempted = true
	ctx, cancel := context.WithTimeout(env.t.Context(), operationTimeout)
	defer cancel()
	return env.driver.Delete(ctx, env.shootInput(), env.newRecorder())
}

func (env *environment) save(state any) { env.infra.Status.State = env.encode(state) }

func (env *environment) encode(object any) *runtime.RawExtension {
	raw, err := json.Marshal(object)
	require.NoError(env.t, err)
	return &runtime.RawExtension{Raw: raw}
}

// calls returns the calls since the last time, without polls that were repeated.
func (env *environment) calls() []string {
	var all []string
	for _, call := range env.cloud.Log() {
		all = append(all, call.Path)
	}
	env.cloud.ResetLog()
	slices.Sort(all)
	return all
}

// recorder saves state at once.
type recorder struct {
	env   *environment
	mutex sync.Mutex
}

func (env *environment) newRecorder() *recorder { return &recorder{env: env} }

func (r *recorder) RecordState(state any) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if !r.env.killed.Load() {
		r.env.save(state)
	}
}

func (r *recorder) RecordIntent(_ context.Context, state any) error {
	r.RecordState(state)
	if r.env.killed.Load() {
		return errors.New("the process is killed")
	}
	return nil
}

// killAfter kills the process right after the effect of a call: it gets no response.
func (env *environment) killAfter(action string, nth int) {
	var mutex sync.Mutex
	seen := 0
	env.cloud.SetHook(func(event wire.Event) wire.HookResult {
		mutex.Lock()
		defer mutex.Unlock()
		if event.Phase == wire.After && event.Call.Path == action {
			if seen == nth {
				env.killed.Store(true)
			}
			seen++
		}
		if env.killed.Load() {
			return wire.DropConnection
		}
		return wire.Proceed
	})
}

func (r *recorder) Run(ctx context.Context, graph *contract.Graph) error {
	return graph.Run(ctx, testr.New(r.env.t), nil)
}
