package garden

import (
	"strings"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/charts/registration"
	"github.com/trellis-garden/trellis/e2e/internal/garden"
)

// What cannot work is refused, by Gardener or by the check of registrations.
func testRefused(t *testing.T, env *environment) {
	defer env.clear(t)
	require.NoError(t, env.Register(t.Context(), garden.Registration{Name: "first", Resources: garden.Primary("openstack", "Infrastructure")}))
	for sentence, tt := range map[string]struct {
		objects func(*gardencorev1beta1.ControllerRegistration)
		entry   func(*registration.Catalogue)
		gardener,
		ours string // what they say; empty where they do not mind
	}{
		"a second primary for a kind and type": {
			objects: func(*gardencorev1beta1.ControllerRegistration) {},
			entry: func(c *registration.Catalogue) {
				again := c.Registrations[0]
				again.Name = "second"
				c.Registrations = append(c.Registrations, again)
			},
			gardener: "another ControllerRegistration resource already exists that controls resource Infrastructure/openstack primarily",
			ours:     "is the primary for Infrastructure/openstack already",
		},
		"a selector of seeds for a primary": {
			objects: func(r *gardencorev1beta1.ControllerRegistration) {
				r.Spec.Resources[0].Type = "other"
				r.Spec.Deployment.SeedSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}}
			},
			entry: func(c *registration.Catalogue) {
				c.Registrations[0].SeedSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}}
			},
			gardener: "specifying a seed selector is not allowed when controlling resources primarily",
			ours:     "Gardener allows none for a primary",
		},
		"a name of which Gardener cannot make a namespace": {
			objects: func(r *gardencorev1beta1.ControllerRegistration) {
				r.Spec.Resources[0].Type, r.Name = "other", strings.Repeat("n", 48)
			},
			entry:    func(c *registration.Catalogue) { c.Registrations[0].Name = strings.Repeat("n", 48) },
			gardener: "", // gardenlet would fail, on each seed
			ours:     "registrations[0].name",
		},
		"a policy that there is not": {
			objects: func(r *gardencorev1beta1.ControllerRegistration) {
				r.Spec.Resources[0].Type = "other"
				r.Spec.Deployment.Policy = new(gardencorev1beta1.ControllerDeploymentPolicy("Sometimes"))
			},
			entry:    func(c *registration.Catalogue) { c.Registrations[0].Policy = "Sometimes" },
			gardener: "spec.deployment.policy: Unsupported value",
			ours:     "registrations[0].policy",
		},
		"a kind that there is not": {
			objects:  func(r *gardencorev1beta1.ControllerRegistration) { r.Spec.Resources[0].Kind = "Infrastucture" },
			entry:    func(c *registration.Catalogue) { c.Registrations[0].Kind = "Infrastucture" },
			gardener: "spec.resources[0].kind: Unsupported value",
			ours:     "is no kind that Gardener knows",
		},
		"one type twice": {
			objects: func(r *gardencorev1beta1.ControllerRegistration) {
				r.Spec.Resources = garden.Primary("other", "Infrastructure", "Infrastructure")
			},
			entry: func(c *registration.Catalogue) {
				c.Registrations[0].Types = append(c.Registrations[0].Types, c.Registrations[0].Types[0])
			},
			gardener: "spec.resources[1]: Duplicate value",
			ours:     "stands there twice",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			object := controllerRegistration("second")
			object.Spec.Resources = garden.Primary("openstack", "Infrastructure")
			object.Spec.Deployment = &gardencorev1beta1.ControllerRegistrationDeployment{}
			tt.objects(object)
			assertMessage(t, tt.gardener, env.Client.Create(t.Context(), object, client.DryRunAll))
			list := catalogue(t)
			tt.entry(&list)
			require.NotEmpty(t, tt.ours, "nobody would refuse it")
			assertMessage(t, tt.ours, registration.Check(list))
		})
	}
	t.Run("gardener-apiserver overlooks a second primary behind another type", func(t *testing.T) {
		// It keeps one type per kind: that of the last registration in alphabetical order.
		require.NoError(t, env.Register(t.Context(), garden.Registration{Name: "zz", Resources: garden.Primary("other", "Infrastructure")}))
		object := controllerRegistration("second")
		object.Spec.Resources = garden.Primary("openstack", "Infrastructure")
		assert.NoError(t, env.Client.Create(t.Context(), object, client.DryRunAll), "if it looks closer now, docs/operations/install.md may say so")
	})
}

func assertMessage(t *testing.T, want string, err error) {
	t.Helper()
	if want == "" {
		assert.NoError(t, err)
		return
	}
	assert.ErrorContains(t, err, want)
}
