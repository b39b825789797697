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
	"github.com/trellis-garden/trellis/e2e/internal/rig"
)

// mistake is something wrong in what a user or an admin wrote.
type mistake struct {
	// make spoils the shoot.
	make func(*rig.World, *gardenlet.Shoot)
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
			make: func(w *rig.World, shoot *gardenlet.Shoot) {
				shoot.InfrastructureConfig = withField(w, "flotingPoolName", "public")
			},
			says: []string{"flotingPoolName", "unknown field"},
		},
		"a range of workers that is none": {
			make: func(w *rig.World, shoot *gardenlet.Shoot) { workers(w, shoot, "10.250.0.0/33") },
			says: []string{"networks.workers", "10.250.0.0/33"},
		},
		"a range of workers outside of the shoot's nodes": {
			make: func(w *rig.World, shoot *gardenlet.Shoot) { workers(w, shoot, "10.99.0.0/19") },
			says: []string{"networks.workers", "10.99.0.0/19", "10.250.0.0/16"},
		},
		"an immutable field that changes": {
			make:  func(w *rig.World, shoot *gardenlet.Shoot) { workers(w, shoot, "10.250.32.0/19") },
			later: true,
			says:  []string{"networks.workers", "immutable", "10.250.0.0/19"},
		},
		"a floating pool that does not exist": {
			make: func(w *rig.World, shoot *gardenlet.Shoot) {
				shoot.InfrastructureConfig = w.Config(func(config *openstackv1alpha1.InfrastructureConfig) { config.FloatingPoolName = "internet" })
			},
			says: []string{"floatingPoolName", "internet"},
		},
		"a secret without a password": {
			make: func(_ *rig.World, shoot *gardenlet.Shoot) { delete(shoot.Credentials, "password") },
			says: []string{"cloudprovider", "password"},
		},
		"a secret without a project": {
			make: func(_ *rig.World, shoot *gardenlet.Shoot) { delete(shoot.Credentials, "tenantName") },
			says: []string{"cloudprovider", "tenantName"},
		},
		"a wrong password": {
			make: func(_ *rig.World, shoot *gardenlet.Shoot) { shoot.Credentials["password"] = []byte("guessed") },
			code: gardencorev1beta1.ErrorInfraUnauthenticated,
		},
	}
}

// testConfiguration makes a mistake, reads what the controller says about it, corrects it, and is served.
func testConfiguration(t *testing.T, r *rig.Rig) {
	w := r.NewWorld(t)
	w.StartController()
	names := 0
	for sentence, m := range mistakes() {
		names++
		name := "mistake-" + string(rune('a'+names))
		t.Run(sentence, func(t *testing.T) {
			w := w.In(t)
			shoot := w.Shoot(name)
			if m.later {
				w.Fulfil(shoot)
			}
			right := *shoot
			right.Credentials = maps.Clone(shoot.Credentials)
			m.make(w, shoot)
			w.Update(shoot)
			w.Order(shoot)
			m.check(t, w.WaitForError(shoot))

			w.Update(&right)
			w.Order(&right)
			w.WaitHealthy(&right)
			w.Destroy(&right)
			assert.Empty(t, w.Inventory())
		})
	}
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

func workers(w *rig.World, shoot *gardenlet.Shoot, cidr string) {
	shoot.InfrastructureConfig = w.Config(func(config *openstackv1alpha1.InfrastructureConfig) { config.Networks.Workers = cidr })
}

// withField returns the usual configuration with a field that its type does not have.
func withField(w *rig.World, name string, value any) map[string]any {
	encoded, err := json.Marshal(openstack.InfrastructureConfig(w.Cloud))
	require.NoError(w.T, err)
	fields := map[string]any{}
	require.NoError(w.T, json.Unmarshal(encoded, &fields))
	fields[name] = value
	return fields
}
