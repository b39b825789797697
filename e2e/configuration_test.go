package e2e

import (
	"encoding/json"
	"maps"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/e2e/internal/gardenlet"
	"github.com/trellis-garden/trellis/e2e/internal/openstack"
	"github.com/trellis-garden/trellis/e2e/internal/testenv"
)

// invalidConfig is an error in the configuration of a user or an admin.
type invalidConfig struct {
	// spoil adds the error.
	spoil func(*testenv.Env, *gardenlet.Shoot)
	// later adds it after the shoot was created, to an immutable field.
	later bool
	// messageParts are parts of the message: the path of the field, and the correction.
	messageParts []string
	// code is the error code; default ERR_CONFIGURATION_PROBLEM.
	code gardencorev1beta1.ErrorCode
}

func invalidConfigs() map[string]invalidConfig {
	return map[string]invalidConfig{
		"an unknown field": {
			spoil: func(env *testenv.Env, shoot *gardenlet.Shoot) {
				shoot.InfrastructureConfig = withField(env, "flotingPoolName", "public")
			},
			messageParts: []string{"flotingPoolName", "unknown field"},
		},
		"a range of workers that is none": {
			spoil:        func(env *testenv.Env, shoot *gardenlet.Shoot) { workers(env, shoot, "10.250.0.0/33") },
			messageParts: []string{"networks.workers", "10.250.0.0/33"},
		},
		"a range of workers outside of the shoot's nodes": {
			spoil:        func(env *testenv.Env, shoot *gardenlet.Shoot) { workers(env, shoot, "10.99.0.0/19") },
			messageParts: []string{"networks.workers", "10.99.0.0/19", "10.250.0.0/16"},
		},
		"an immutable field that changes": {
			spoil:        func(env *testenv.Env, shoot *gardenlet.Shoot) { workers(env, shoot, "10.250.32.0/19") },
			later:        true,
			messageParts: []string{"networks.workers", "immutable", "10.250.0.0/19"},
		},
		"a floating pool that does not exist": {
			spoil: func(env *testenv.Env, shoot *gardenlet.Shoot) {
				shoot.InfrastructureConfig = env.Config(func(config *openstackv1alpha1.InfrastructureConfig) { config.FloatingPoolName = "internet" })
			},
			messageParts: []string{"floatingPoolName", "internet"},
		},
		"a secret without a password": {
			spoil:        func(_ *testenv.Env, shoot *gardenlet.Shoot) { delete(shoot.Credentials, "password") },
			messageParts: []string{"cloudprovider", "password"},
		},
		"a secret without a project": {
			spoil:        func(_ *testenv.Env, shoot *gardenlet.Shoot) { delete(shoot.Credentials, "tenantName") },
			messageParts: []string{"cloudprovider", "tenantName"},
		},
		"a wrong password": {
			spoil: func(_ *testenv.Env, shoot *gardenlet.Shoot) { shoot.Credentials["password"] = []byte("guessed") },
			code:  gardencorev1beta1.ErrorInfraUnauthenticated,
		},
	}
}

// testConfiguration makes an error, checks the controller's message, and corrects it.
func testConfiguration(t *testing.T, f *testenv.Fixture) {
	env := f.NewEnv(t)
	env.StartController()
	names := 0
	for description, m := range invalidConfigs() {
		names++
		name := "error-" + string(rune('a'+names))
		t.Run(description, func(t *testing.T) {
			env := env.WithT(t)
			shoot := env.Shoot(name)
			if m.later {
				env.Reconcile(shoot)
			}
			right := *shoot
			right.Credentials = maps.Clone(shoot.Credentials)
			m.spoil(env, shoot)
			env.Update(shoot)
			env.RequestReconcile(shoot)
			m.check(t, env.WaitForError(shoot))

			env.Update(&right)
			env.RequestReconcile(&right)
			env.WaitHealthy(&right)
			env.Destroy(&right)
			assert.Empty(t, env.Inventory())
		})
	}
}

func (m invalidConfig) check(t *testing.T, object *extensionsv1alpha1.Infrastructure) {
	t.Helper()
	reported := object.Status.LastError
	t.Log(reported.Description)
	for _, part := range m.messageParts {
		assert.Contains(t, reported.Description, part)
	}
	code := m.code
	if code == "" {
		code = gardencorev1beta1.ErrorConfigurationProblem
	}
	assert.Equal(t, []gardencorev1beta1.ErrorCode{code}, reported.Codes)
	assert.Equal(t, gardencorev1beta1.LastOperationStateError, object.Status.LastOperation.State)
}

func workers(env *testenv.Env, shoot *gardenlet.Shoot, cidr string) {
	shoot.InfrastructureConfig = env.Config(func(config *openstackv1alpha1.InfrastructureConfig) { config.Networks.Workers = cidr })
}

// withField returns the usual configuration with a field that its type does not have.
func withField(env *testenv.Env, name string, value any) map[string]any {
	encoded, err := json.Marshal(openstack.InfrastructureConfig(env.OpenStack()))
	require.NoError(env.T, err)
	fields := map[string]any{}
	require.NoError(env.T, json.Unmarshal(encoded, &fields))
	fields[name] = value
	return fields
}
