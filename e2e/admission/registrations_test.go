package admission

import (
	"slices"
	"strings"
	"sync"
	"testing"

	gardencorev1 "github.com/gardener/gardener/pkg/apis/core/v1"
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	operatorv1alpha1 "github.com/gardener/gardener/pkg/apis/operator/v1alpha1"
	"github.com/gardener/gardener/pkg/client/kubernetes"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/e2e/internal/garden"
)

func newRegistration(name string, resources ...gardencorev1beta1.ControllerResource) *gardencorev1beta1.ControllerRegistration {
	return &gardencorev1beta1.ControllerRegistration{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       gardencorev1beta1.ControllerRegistrationSpec{Resources: resources},
	}
}

// newExtension is an Extension of gardener-operator.
func newExtension(name string, resources []gardencorev1beta1.ControllerResource) *operatorv1alpha1.Extension {
	chart := &operatorv1alpha1.ExtensionHelm{OCIRepository: &gardencorev1.OCIRepository{Ref: new("registry.example.org/chart:v1")}}
	return &operatorv1alpha1.Extension{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: operatorv1alpha1.ExtensionSpec{Resources: resources, Deployment: &operatorv1alpha1.Deployment{
			ExtensionDeployment: &operatorv1alpha1.ExtensionDeploymentSpec{DeploymentSpec: operatorv1alpha1.DeploymentSpec{Helm: chart}},
		}},
	}
}

func secondary(resources []gardencorev1beta1.ControllerResource) []gardencorev1beta1.ControllerResource {
	for i := range resources {
		resources[i].Primary = new(false)
	}
	return resources
}

// registrationCase is a registration in addition to the existing ones: of clouds and other types.
type registrationCase struct {
	resources  []gardencorev1beta1.ControllerResource
	wantCauses []expectedCause
	warnings   []string // pieces of them
}

func registrationCases() map[string]registrationCase {
	const who = "clouds"
	openstack := garden.Primary("openstack", "Infrastructure", "ControlPlane", "Worker")
	return map[string]registrationCase{
		"a second primary":                 {garden.Primary("openstack", "Infrastructure"), []expectedCause{{"spec.resources[0]", who}}, nil},
		"a second primary for three kinds": {openstack, []expectedCause{{"spec.resources[0]", who}, {"spec.resources[1]", who}, {"spec.resources[2]", who}}, nil},
		"a second primary, behind something of its own": {
			slices.Concat(garden.Primary("own", "Extension"), garden.Primary("openstack", "Worker")), []expectedCause{{"spec.resources[1]", who}}, nil,
		},
		"a second primary, in front of something of its own": {
			slices.Concat(garden.Primary("openstack", "ControlPlane"), garden.Primary("own", "Extension")), []expectedCause{{"spec.resources[0]", who}}, nil,
		},
		"a second network":                 {garden.Primary("calico", "Network"), []expectedCause{{"spec.resources[0]", "others"}}, nil},
		"a secondary":                      {secondary(garden.Primary("openstack", "Infrastructure")), nil, nil},
		"secondaries for all":              {secondary(slices.Clone(openstack)), nil, nil},
		"a secondary of a new cloud":       {secondary(garden.Primary("gcp", "Worker")), nil, []string{"Worker/gcp has no primary"}},
		"something of its own":             {garden.Primary("alone", "Extension"), nil, nil},
		"a new network":                    {garden.Primary("gardenet", "Network"), nil, nil},
		"all of a new cloud":               {garden.Primary("gcp", "Infrastructure", "ControlPlane", "Worker"), nil, nil},
		"a third of a new cloud":           {garden.Primary("gcp", "Infrastructure"), nil, []string{"ControlPlane", "Worker"}},
		"a new cloud without its machines": {garden.Primary("gcp", "Infrastructure", "ControlPlane"), nil, []string{"Worker"}},
		"nothing at all":                   {nil, nil, nil},
	}
}

func testRegistrations(t *testing.T, env *environment) {
	t.Run("Gardener itself overlooks a second primary behind another type", func(t *testing.T) {
		err := env.Client.Create(t.Context(), newRegistration("new", garden.Primary("openstack", "Infrastructure")...), client.DryRunAll)
		assert.True(t, deniedByUs(err), "%v", err)
	})
	for sentence, tt := range registrationCases() {
		t.Run(sentence, func(t *testing.T) {
			warnings := &warnings{}
			c := warnings.clientOf(t, env.Config, kubernetes.GardenScheme)
			err := c.Create(t.Context(), newRegistration("new", tt.resources...), client.DryRunAll)
			if err != nil && !deniedByUs(err) && strings.Contains(err.Error(), "another ControllerRegistration resource already exists") {
				return // Gardener was first
			}
			assertResult(t, err, tt.wantCauses)
			warnings.assert(t, tt.warnings)
		})
	}
	t.Run("Updates", func(t *testing.T) { testRegistrationUpdates(t, env) })
	t.Run("Extensions", func(t *testing.T) { testExtensions(t, env) })
}

func testRegistrationUpdates(t *testing.T, env *environment) {
	require.NoError(t, env.Client.Create(t.Context(), newRegistration("changing", garden.Primary("own", "Extension")...)))
	for sentence, tt := range map[string]struct {
		name       string
		change     func(*gardencorev1beta1.ControllerRegistration)
		wantErrors []expectedCause
	}{
		"a label":     {"clouds", func(r *gardencorev1beta1.ControllerRegistration) { r.Labels = map[string]string{"a": "b"} }, nil},
		"a kind less": {"clouds", func(r *gardencorev1beta1.ControllerRegistration) { r.Spec.Resources = r.Spec.Resources[:5] }, nil},
		"what is somebody else's already": {
			"changing", func(r *gardencorev1beta1.ControllerRegistration) {
				r.Spec.Resources = append(r.Spec.Resources, garden.Primary("openstack", "Worker")...)
			}, []expectedCause{{"spec.resources[1]", "clouds"}},
		},
		"a look at what is somebody else's": {
			"changing", func(r *gardencorev1beta1.ControllerRegistration) {
				r.Spec.Resources = append(r.Spec.Resources, secondary(garden.Primary("openstack", "Worker"))...)
			}, nil,
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			registration := &gardencorev1beta1.ControllerRegistration{}
			require.NoError(t, env.Client.Get(t.Context(), client.ObjectKey{Name: tt.name}, registration))
			tt.change(registration)
			assertResult(t, env.update(t, registration, client.DryRunAll), tt.wantErrors)
		})
	}
}

// testExtensions registers by gardener-operator's Extensions in the runtime cluster: their future registrations count, and so do those in the
// garden.
func testExtensions(t *testing.T, env *environment) {
	require.NoError(t, env.extensions.Create(t.Context(), newExtension("first", garden.Primary("gcp", "Infrastructure", "ControlPlane", "Worker"))))
	for sentence, tt := range map[string]registrationCase{
		"something of its own":                 {garden.Primary("alone", "Extension"), nil, nil},
		"a second primary beside an Extension": {garden.Primary("gcp", "Worker"), []expectedCause{{"spec.resources[0]", "first"}}, nil},
		"a second primary beside the garden's": {garden.Primary("openstack", "Worker"), []expectedCause{{"spec.resources[0]", "clouds"}}, nil},
		"a secondary beside both":              {slices.Concat(secondary(garden.Primary("gcp", "Worker")), secondary(garden.Primary("openstack", "Worker"))), nil, nil},
		"a third of a new cloud":               {garden.Primary("alicloud", "Infrastructure"), nil, []string{"ControlPlane", "Worker"}},
		"a secondary beside none":              {secondary(garden.Primary("alicloud", "Worker")), nil, []string{"Worker/alicloud has no primary"}},
		"nothing to register":                  {nil, nil, nil},
	} {
		t.Run(sentence, func(t *testing.T) {
			warnings := &warnings{}
			c := warnings.clientOf(t, env.runtime.Config, extensionScheme())
			assertResult(t, c.Create(t.Context(), newExtension("new", tt.resources), client.DryRunAll), tt.wantCauses)
			warnings.assert(t, tt.warnings)
		})
	}
	t.Run("what is made of an Extension is no second one", func(t *testing.T) {
		err := env.Client.Create(t.Context(), newRegistration("first", garden.Primary("gcp", "Infrastructure", "ControlPlane", "Worker")...), client.DryRunAll)
		assert.NoError(t, err)
		// An Extension with an existing registration can be changed.
		assert.NoError(t, env.extensions.Create(t.Context(), newExtension("others", garden.Primary("calico", "Network")), client.DryRunAll))
	})
	t.Run("without a chart nothing is made of it", func(t *testing.T) {
		extension := newExtension("new", garden.Primary("openstack", "Infrastructure"))
		extension.Spec.Deployment = nil
		assert.NoError(t, env.extensions.Create(t.Context(), extension, client.DryRunAll))
	})
	t.Run("an Extension is changed", func(t *testing.T) {
		extension := &operatorv1alpha1.Extension{}
		c := env.extensions
		require.NoError(t, c.Get(t.Context(), client.ObjectKey{Name: "first"}, extension))
		extension.Labels = map[string]string{"a": "b"}
		assert.NoError(t, c.Update(t.Context(), extension, client.DryRunAll))
		extension.Spec.Resources = append(extension.Spec.Resources, garden.Primary("openstack", "Infrastructure")...)
		assertResult(t, c.Update(t.Context(), extension, client.DryRunAll), []expectedCause{{"spec.resources[3]", "clouds"}})
	})
}

func extensionScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	must(operatorv1alpha1.AddToScheme(scheme))
	return scheme
}

// warnings are an API server's.
type warnings struct {
	mutex sync.Mutex
	texts []string
}

// HandleWarningHeader takes one.
func (w *warnings) HandleWarningHeader(_ int, _, text string) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.texts = append(w.texts, text)
}

func (w *warnings) clientOf(t *testing.T, config *rest.Config, scheme *runtime.Scheme) client.Client {
	t.Helper()
	own := rest.CopyConfig(config)
	own.WarningHandler = w
	c, err := client.New(own, client.Options{Scheme: scheme})
	require.NoError(t, err)
	return c
}

func (w *warnings) assert(t *testing.T, pieces []string) {
	t.Helper()
	w.mutex.Lock()
	defer w.mutex.Unlock()
	joined := strings.Join(w.texts, "\n")
	if len(pieces) == 0 {
		assert.Empty(t, w.texts)
	}
	for _, piece := range pieces {
		assert.Contains(t, joined, piece)
	}
}
