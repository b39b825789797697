package e2e

import (
	"encoding/json"
	"maps"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/e2e/internal/gardenlet"
	"github.com/trellis-garden/trellis/e2e/internal/openstack"
)

// mistake is something wrong in what a user or an admin wrote.
type mistake struct {
	// make spoils the shoot.
	make func(*gardenlet.Shoot)
	// later makes the mistake after the shoot was created, in something that must not change.
	later bool
	// says are parts of the message: the path of what is wrong, and what to do about it.
	says []string
	// code is ERR_CONFIGURATION_PROBLEM unless given.
	code gardencorev1beta1.ErrorCode
}

func mistakes() map[string]mistake {
	return map[string]mistake{
		"an unknown field": {
			make: func(shoot *gardenlet.Shoot) { shoot.InfrastructureConfig = withField("flotingPoolName", "public") },
			says: []string{"flotingPoolName", "unknown field"},
		},
		"a range of workers that is none": {
			make: func(shoot *gardenlet.Shoot) { workers(shoot, "10.250.0.0/33") },
			says: []string{"networks.workers", "10.250.0.0/33"},
		},
		"a range of workers outside of the shoot's nodes": {
			make: func(shoot *gardenlet.Shoot) { workers(shoot, "10.99.0.0/19") },
			says: []string{"networks.workers", "10.99.0.0/19", "10.250.0.0/16"},
		},
		"an immutable field that changes": {
			make:  func(shoot *gardenlet.Shoot) { workers(shoot, "10.250.32.0/19") },
			later: true,
			says:  []string{"networks.workers", "immutable", "10.250.0.0/19"},
		},
		"a floating pool that does not exist": {
			make: func(shoot *gardenlet.Shoot) {
				config := openstack.InfrastructureConfig()
				config.FloatingPoolName = "internet"
				shoot.InfrastructureConfig = config
			},
			says: []string{"floatingPoolName", "internet"},
		},
		"a secret without a password": {
			make: func(shoot *gardenlet.Shoot) { delete(shoot.Credentials, "password") },
			says: []string{"cloudprovider", "password"},
		},
		"a secret without a project": {
			make: func(shoot *gardenlet.Shoot) { delete(shoot.Credentials, "tenantName") },
			says: []string{"cloudprovider", "tenantName"},
		},
		"a wrong password": {
			make: func(shoot *gardenlet.Shoot) { shoot.Credentials["password"] = []byte("guessed") },
			code: gardencorev1beta1.ErrorInfraUnauthenticated,
		},
	}
}

// testConfiguration makes a mistake, reads what the controller says about it, corrects it, and is served.
func (l *landscape) testConfiguration(t *testing.T) {
	w := l.newWorld(t)
	w.startController()
	before := inventory(w.cloud)
	names := 0
	for sentence, m := range mistakes() {
		names++
		name := "mistake-" + string(rune('a'+names))
		t.Run(sentence, func(t *testing.T) {
			w := w.in(t)
			shoot := w.shoot(name)
			if m.later {
				w.fulfil(shoot)
			}
			right := *shoot
			right.Credentials = maps.Clone(shoot.Credentials)
			m.make(shoot)
			require.NoError(t, w.gardenlet.Prepare(t.Context(), shoot))
			w.order(shoot)
			m.check(t, w.waitFor(shoot, "the mistake is reported", func(object *extensionsv1alpha1.Infrastructure) bool {
				return object.Status.LastError != nil
			}))

			require.NoError(t, w.gardenlet.Prepare(t.Context(), &right))
			w.order(&right)
			w.waitHealthy(&right)
			w.destroy(&right)
		})
	}
	assert.Equal(t, before, inventory(w.cloud))
}

func (m mistake) check(t *testing.T, object *extensionsv1alpha1.Infrastructure) {
	t.Helper()
	reported := object.Status.LastError
	t.Log(reported.Description)
	for _, part := range m.says {
		assert.Contains(t, reported.Description, part)
	}
	code := m.code
	if code == "" {
		code = gardencorev1beta1.ErrorConfigurationProblem
	}
	assert.Equal(t, []gardencorev1beta1.ErrorCode{code}, reported.Codes)
	assert.Equal(t, gardencorev1beta1.LastOperationStateError, object.Status.LastOperation.State)
}

func workers(shoot *gardenlet.Shoot, cidr string) {
	config := openstack.InfrastructureConfig()
	config.Networks.Workers = cidr
	shoot.InfrastructureConfig = config
}

// withField returns the usual configuration with a field that its type does not have.
func withField(name string, value any) map[string]any {
	encoded, err := json.Marshal(openstack.InfrastructureConfig())
	if err != nil {
		panic(err)
	}
	fields := map[string]any{}
	if err := json.Unmarshal(encoded, &fields); err != nil {
		panic(err)
	}
	fields[name] = value
	return fields
}
