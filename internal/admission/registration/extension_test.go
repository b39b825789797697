package registration

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	operatorv1alpha1 "github.com/gardener/gardener/pkg/apis/operator/v1alpha1"
	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const gardenUnavailableWarning = "the garden does not answer: whether a ControllerRegistration there serves the same is checked when this Extension's own is made"

// extensionOf is one of which the operator makes a ControllerRegistration.
func extensionOf(name string, specs ...string) *operatorv1alpha1.Extension {
	object := extensionWithAdmissionOnly(name, specs...)
	object.Spec.Deployment.ExtensionDeployment = &operatorv1alpha1.ExtensionDeploymentSpec{
		DeploymentSpec: operatorv1alpha1.DeploymentSpec{Helm: &operatorv1alpha1.ExtensionHelm{}},
	}
	return object
}

// extensionWithAdmissionOnly is an Extension of which the operator makes no ControllerRegistration.
func extensionWithAdmissionOnly(name string, specs ...string) *operatorv1alpha1.Extension {
	return &operatorv1alpha1.Extension{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: operatorv1alpha1.ExtensionSpec{
		Resources: resources(specs...), Deployment: &operatorv1alpha1.Deployment{},
	}}
}

func TestValidateExtension_Primaries(t *testing.T) {
	var (
		extensions = []operatorv1alpha1.Extension{
			*extensionOf("cloud", "Infrastructure/a", "ControlPlane/a", "Worker/a"), *extensionWithAdmissionOnly("guard", "Network/b"), *extensionOf("new"),
		}
		registrations = []gardencorev1beta1.ControllerRegistration{
			*controllerRegistration("cloud", "Infrastructure/a", "Network/old"), *controllerRegistration("manual", "Network/m", "Infrastructure/m"),
			*controllerRegistration("new", "Network/n"), *controllerRegistration("guard", "Network/g"),
		}
	)
	for sentence, test := range map[string]struct {
		object, old  *operatorv1alpha1.Extension
		want         []string
		warnings     []string
		lookedAround bool
	}{
		"something that nobody serves": {object: extensionOf("new", "Network/a"), lookedAround: true},
		"what another Extension serves": {
			object: extensionOf("new", "Network/a", "Worker/a"), want: []string{conflictError("1", "Worker/a", `Extension "cloud"`)}, lookedAround: true,
		},
		"what a ControllerRegistration serves that no Extension is behind": {
			object: extensionOf("new", "Network/m"), want: []string{conflictError("0", "Network/m", `ControllerRegistration "manual"`)}, lookedAround: true,
		},
		"what one serves of which the Extension brings only an admission": {
			object: extensionOf("new", "Network/g"), want: []string{conflictError("0", "Network/g", `ControllerRegistration "guard"`)}, lookedAround: true,
		},
		"what its own ControllerRegistration serves":              {object: extensionOf("new", "Network/n"), lookedAround: true},
		"what another Extension served until a moment ago":        {object: extensionOf("new", "Network/old"), lookedAround: true},
		"what an Extension names of which there is no controller": {object: extensionOf("new", "Network/b"), lookedAround: true},
		"a secondary":                           {object: extensionOf("new", "Worker/a-"), lookedAround: true},
		"a secondary of what the garden serves": {object: extensionOf("new", "Network/m-"), lookedAround: true},
		"a secondary of what nobody serves": {
			object: extensionOf("new", "Network/b-"), lookedAround: true,
			warnings: []string{"Network/b has no primary, so there is nothing that a secondary could observe: register a primary as well"},
		},
		"an Extension without a controller":       {object: extensionWithAdmissionOnly("new", "Worker/a")},
		"an Extension that comes to a controller": {object: extensionOf("new", "Worker/a"), old: extensionWithAdmissionOnly("new", "Worker/a"), want: []string{conflictError("0", "Worker/a", `Extension "cloud"`)}, lookedAround: true},
		"an Extension that serves what it did":    {object: extensionOf("new", "Worker/a"), old: extensionOf("new", "Network/x", "Worker/a")},
		"an Extension that loses its controller":  {object: extensionWithAdmissionOnly("new", "Worker/a"), old: extensionOf("new", "Network/x")},
		"a part, of which the garden has another": {object: extensionOf("new", "Worker/m"), warnings: []string{"shoots of type m still need a primary for ControlPlane: register it as well"}, lookedAround: true},
		"a name for which no namespace has room": {
			object: extensionOf(strings.Repeat("x", 48), "Network/a"), lookedAround: true,
			want: []string{
				`metadata.name: Invalid value: "` + strings.Repeat("x", 48) + `": may have 47 characters at most, ` +
					"since it becomes part of a namespace's name on seeds: choose a shorter one",
			},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			var old []byte
			if test.old != nil {
				old = encoded(t, test.old)
			}
			garden, runtimeCluster := &fakeCluster{registrations: registrations}, &fakeCluster{extensions: extensions}
			response := callWebhook(t, garden, runtimeCluster, encoded(t, test.object), old, true)
			assert.Equal(t, test.want, causes(response))
			assert.Equal(t, len(test.want) == 0, response.Allowed)
			assert.Equal(t, test.warnings, response.Warnings)
			wantRequests := 0
			if test.lookedAround {
				wantRequests = 1
			}
			assert.Equal(t, []int{wantRequests, wantRequests}, []int{garden.requests, runtimeCluster.requests})
		})
	}
}

func TestValidateExtension_GardenUnavailable(t *testing.T) {
	garden := &fakeCluster{err: errors.New("nobody answers")}
	runtimeCluster := &fakeCluster{extensions: []operatorv1alpha1.Extension{*extensionOf("cloud", "Worker/a")}}

	response := callWebhook(t, garden, runtimeCluster, encoded(t, extensionOf("new", "Worker/b")), nil, true)
	assert.True(t, response.Allowed)
	assert.Equal(t, []string{gardenUnavailableWarning}, response.Warnings)

	response = callWebhook(t, garden, runtimeCluster, encoded(t, extensionOf("new", "Worker/a")), nil, true)
	assert.Equal(t, []string{conflictError("0", "Worker/a", `Extension "cloud"`)}, causes(response), "what is known is checked nevertheless")

	response = callWebhook(t, garden, runtimeCluster, encoded(t, extensionOf("new", "Worker/b-")), nil, true)
	assert.True(t, response.Allowed)
	assert.Empty(t, response.Warnings, "its primary may be in the garden")
}

func TestValidateExtension_GardenTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		response := callWebhook(t, &fakeCluster{hangs: true}, &fakeCluster{}, encoded(t, extensionOf("new", "Worker/b")), nil, true)
		assert.True(t, response.Allowed)
		assert.Equal(t, []string{gardenUnavailableWarning}, response.Warnings)
	})
}

func TestValidateExtension_KindsMissing(t *testing.T) {
	for _, err := range missingKindErrors() {
		response := callWebhook(t, &fakeCluster{err: err}, &fakeCluster{err: err}, encoded(t, extensionOf("new", "Network/b")), nil, true)
		assert.True(t, response.Allowed, err)
		assert.Empty(t, response.Warnings, err)
	}
}

func TestValidateExtension_RuntimeClusterUnavailable(t *testing.T) {
	response := callWebhook(t, &fakeCluster{}, &fakeCluster{err: errors.New("nobody answers")}, encoded(t, extensionOf("new", "Network/a")), nil, true)
	assert.False(t, response.Allowed)
	assert.EqualValues(t, http.StatusInternalServerError, response.Result.Code)
	assert.Equal(t, "listing Extensions: nobody answers: try again", response.Result.Message)
}
