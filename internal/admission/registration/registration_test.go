package registration

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	operatorv1alpha1 "github.com/gardener/gardener/pkg/apis/operator/v1alpha1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admission/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrladmission "sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/trellis-garden/trellis/internal/admission"
)

// fakeCluster is one with registrations, Extensions, or an error. It counts who asks.
type fakeCluster struct {
	client.Reader
	registrations []gardencorev1beta1.ControllerRegistration
	extensions    []operatorv1alpha1.Extension
	err           error
	// hangs is true for one that does not answer until the asker gives up.
	hangs    bool
	requests int
}

func (c *fakeCluster) List(ctx context.Context, into client.ObjectList, _ ...client.ListOption) error {
	c.requests++
	if c.hangs {
		<-ctx.Done()
		return ctx.Err()
	}
	switch list := into.(type) {
	case *gardencorev1beta1.ControllerRegistrationList:
		list.Items = c.registrations
	case *operatorv1alpha1.ExtensionList:
		list.Items = c.extensions
	}
	return c.err
}

// callWebhook sends a write through a webhook. old is nil for a creation.
func callWebhook(t testing.TB, garden, runtimeCluster *fakeCluster, object, old []byte, extension bool) ctrladmission.Response {
	t.Helper()
	webhooks := Webhooks(admission.Garden{Reader: garden}, runtimeCluster)
	webhook, kind := webhooks[0], gardencorev1beta1.SchemeGroupVersion.WithKind("ControllerRegistration")
	if extension {
		webhook, kind = webhooks[1], operatorv1alpha1.SchemeGroupVersion.WithKind("Extension")
	}
	request := ctrladmission.Request{AdmissionRequest: admissionv1.AdmissionRequest{
		Operation: admissionv1.Create, Kind: metav1.GroupVersionKind(kind), Name: "new", Object: runtime.RawExtension{Raw: object},
	}}
	if old != nil {
		request.Operation, request.OldObject.Raw = admissionv1.Update, old
	}
	return webhook.Handler.Handle(t.Context(), request)
}

func encoded(t testing.TB, object any) []byte {
	t.Helper()
	raw, err := json.Marshal(object)
	require.NoError(t, err)
	return raw
}

func causes(response ctrladmission.Response) []string {
	if response.Result == nil || response.Result.Details == nil {
		return nil
	}
	var all []string
	for _, cause := range response.Result.Details.Causes {
		all = append(all, cause.Field+": "+cause.Message)
	}
	return all
}

// resources reads "Worker/a", and "Worker/a-" for a secondary.
func resources(specs ...string) []gardencorev1beta1.ControllerResource {
	var all []gardencorev1beta1.ControllerResource
	for _, text := range specs {
		kind, providerType, _ := strings.Cut(text, "/")
		resource := gardencorev1beta1.ControllerResource{Kind: kind, Type: strings.TrimRight(providerType, "-+")}
		switch {
		case strings.HasSuffix(text, "-"):
			resource.Primary = new(false)
		case strings.HasSuffix(text, "+"):
			resource.Primary = new(true)
		}
		all = append(all, resource)
	}
	return all
}

func controllerRegistration(name string, specs ...string) *gardencorev1beta1.ControllerRegistration {
	return &gardencorev1beta1.ControllerRegistration{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: gardencorev1beta1.ControllerRegistrationSpec{Resources: resources(specs...)},
	}
}

func deployedRegistration(name string, specs ...string) *gardencorev1beta1.ControllerRegistration {
	object := controllerRegistration(name, specs...)
	object.Spec.Deployment = &gardencorev1beta1.ControllerRegistrationDeployment{DeploymentRefs: []gardencorev1beta1.DeploymentRef{{Name: name}}}
	return object
}

// conflictError is the refusal of a resource that somebody else has.
func conflictError(index, spec, owner string) string {
	return "spec.resources[" + index + `]: Invalid value: "` + spec + `": ` + owner +
		" is its primary, and there must be only one: set primary to false here, or remove the resource there first"
}

func TestValidateControllerRegistration_Primaries(t *testing.T) {
	others := []gardencorev1beta1.ControllerRegistration{
		*controllerRegistration("cloud", "Infrastructure/a", "Infrastructure/b+", "ControlPlane/a", "Worker/a", "Worker/c-"),
		*controllerRegistration("new", "Network/x", "Network/y"),
	}
	for sentence, test := range map[string]struct {
		object, old *gardencorev1beta1.ControllerRegistration
		want        []string
		warnings    []string
		looks       int
	}{
		"something that nobody serves": {object: controllerRegistration("new", "Network/a"), looks: 1},
		"a kind of which another type is served": {
			object: controllerRegistration("new", "Infrastructure/c", "ControlPlane/c", "Worker/c"), looks: 1,
		},
		"the type that Gardener remembers": {
			object: controllerRegistration("new", "Infrastructure/b"), want: []string{conflictError("0", "Infrastructure/b", `ControllerRegistration "cloud"`)}, looks: 1,
		},
		"a type that Gardener forgets": {
			object: controllerRegistration("new", "Network/a", "Infrastructure/a+", "Worker/a"),
			want: []string{
				conflictError("1", "Infrastructure/a", `ControllerRegistration "cloud"`), conflictError("2", "Worker/a", `ControllerRegistration "cloud"`),
			}, looks: 1,
		},
		"a secondary": {object: controllerRegistration("new", "Infrastructure/a-", "Worker/a-"), looks: 1},
		"a secondary that was there before": {
			object: controllerRegistration("new", "Worker/d-", "Worker/d-"), old: controllerRegistration("new", "Worker/d-"),
		},
		"secondaries without a primary": {
			object: controllerRegistration("new", "Worker/d-", "Worker/a-", "Worker/c-", "Worker/d-"), old: controllerRegistration("new", "Worker/d"), looks: 1,
			warnings: []string{
				"Worker/d has no primary, so there is nothing that a secondary could observe: register a primary as well",
				"Worker/c has no primary, so there is nothing that a secondary could observe: register a primary as well",
			},
		},
		"a secondary beside a primary in the same registration": {object: controllerRegistration("new", "Network/c-", "Network/c"), looks: 1},
		"nothing at all": {object: controllerRegistration("new")},
		"the same twice, not next": {
			object: controllerRegistration("new", "Network/a", "Network/b", "Network/a"),
			want:   []string{`spec.resources[2]: Invalid value: "Network/a": says the same as spec.resources[0]: remove one of the two`}, looks: 1,
		},
		"the same as a primary and as a secondary":    {object: controllerRegistration("new", "Network/a", "Network/b", "Network/a-"), looks: 1},
		"what it served before":                       {object: controllerRegistration("new", "Network/x"), old: controllerRegistration("new", "Network/x")},
		"what it served in vain, in another position": {object: controllerRegistration("new", "Infrastructure/a"), old: controllerRegistration("new", "Network/x", "Infrastructure/a")},
		"something new, next to what was wrong": {
			object: controllerRegistration("new", "Network/a", "Infrastructure/a"), old: controllerRegistration("new", "Infrastructure/a"), looks: 1,
		},
		"a second primary that is new": {
			object: controllerRegistration("new", "Network/x", "Worker/a"), old: controllerRegistration("new", "Network/x"),
			want: []string{conflictError("1", "Worker/a", `ControllerRegistration "cloud"`)}, looks: 1,
		},
		"a secondary that becomes a primary": {
			object: controllerRegistration("new", "Worker/a+"), old: controllerRegistration("new", "Worker/a-"),
			want: []string{conflictError("0", "Worker/a", `ControllerRegistration "cloud"`)}, looks: 1,
		},
		"twice what was there once": {
			object: controllerRegistration("new", "Network/x", "Network/x"), old: controllerRegistration("new", "Network/x"),
			want: []string{`spec.resources[1]: Invalid value: "Network/x": says the same as spec.resources[0]: remove one of the two`}, looks: 1,
		},
		"a part of what shoots need": {
			object: controllerRegistration("new", "Worker/d", "Worker/b", "OperatingSystemConfig/e"), looks: 1,
			warnings: []string{
				"shoots of type b still need a primary for ControlPlane: register it as well",
				"shoots of type d still need a primary for Infrastructure and ControlPlane: register it as well",
			},
		},
		"a part that another registration only observes": {
			object: controllerRegistration("new", "Infrastructure/c", "ControlPlane/c"), looks: 1,
			warnings: []string{"shoots of type c still need a primary for Worker: register it as well"},
		},
		"the last part": {object: controllerRegistration("new", "Infrastructure/d", "Worker/d", "ControlPlane/d"), looks: 1},
	} {
		t.Run(sentence, func(t *testing.T) {
			var old []byte
			if test.old != nil {
				old = encoded(t, test.old)
			}
			garden := &fakeCluster{registrations: others}
			response := callWebhook(t, garden, nil, encoded(t, test.object), old, false)
			assert.Equal(t, test.want, causes(response))
			assert.Equal(t, len(test.want) == 0, response.Allowed)
			assert.Equal(t, test.warnings, response.Warnings)
			assert.Equal(t, test.looks, garden.requests)
		})
	}
}

func TestValidateName(t *testing.T) {
	longest := strings.Repeat("x", 47)
	nameError := `metadata.name: Invalid value: "` + longest + `y": may have 47 characters at most, ` +
		"since it becomes part of a namespace's name on seeds: choose a shorter one"
	for sentence, test := range map[string]struct {
		object, old *gardencorev1beta1.ControllerRegistration
		want        []string
	}{
		"a name as long as it may be":                  {deployedRegistration(longest), nil, nil},
		"one character more":                           {deployedRegistration(longest + "y"), nil, []string{nameError}},
		"a long one that is not deployed":              {controllerRegistration(longest + "y"), nil, nil},
		"a long one that comes to be deployed":         {deployedRegistration(longest + "y"), controllerRegistration(longest + "y"), []string{nameError}},
		"a long one that was deployed, whatever for":   {deployedRegistration(longest+"y", "Worker/a-"), deployedRegistration(longest + "y"), nil},
		"a name that the API server has yet to choose": {deployedRegistration(""), nil, nil},
	} {
		t.Run(sentence, func(t *testing.T) {
			var old []byte
			if test.old != nil {
				old = encoded(t, test.old)
			}
			assert.Equal(t, test.want, causes(callWebhook(t, &fakeCluster{}, nil, encoded(t, test.object), old, false)))
		})
	}
}

func TestValidateControllerRegistration_GardenUnavailable(t *testing.T) {
	response := callWebhook(t, &fakeCluster{err: errors.New("nobody answers")}, nil, encoded(t, controllerRegistration("new", "Network/a")), nil, false)
	assert.False(t, response.Allowed)
	assert.EqualValues(t, http.StatusInternalServerError, response.Result.Code)
	assert.Equal(t, "listing ControllerRegistrations: nobody answers: try again", response.Result.Message)

	response = callWebhook(t, &fakeCluster{err: errors.New("nobody answers")}, nil, encoded(t, controllerRegistration("new", "Network/a-")), nil, false)
	assert.True(t, response.Allowed, "a warning is no reason to refuse a secondary")
	assert.Empty(t, response.Warnings)
}

func TestWebhooks(t *testing.T) {
	webhooks := Webhooks(admission.Garden{}, nil)
	require.Len(t, webhooks, 2)
	for i, want := range []struct {
		name, group, version, resource string
		runtime                        bool
	}{
		{"controllerregistration.registrations", "core.gardener.cloud", "v1beta1", "controllerregistrations", false},
		{"extension.registrations", "operator.gardener.cloud", "v1alpha1", "extensions", true},
	} {
		webhook := webhooks[i]
		assert.Equal(t, want.name, webhook.Name)
		assert.Equal(t, want.runtime, webhook.Runtime)
		assert.False(t, webhook.Mutates)
		assert.Empty(t, webhook.ObjectSelector)
		require.Len(t, webhook.Rules, 1)
		assert.Equal(t, []string{want.group}, webhook.Rules[0].APIGroups)
		assert.Equal(t, []string{want.version}, webhook.Rules[0].APIVersions)
		assert.Equal(t, []string{want.resource}, webhook.Rules[0].Resources)
	}
}

// missingKindErrors are the errors of an API server that knows no such kind.
func missingKindErrors() []error {
	return []error{
		&meta.NoKindMatchError{GroupKind: schema.GroupKind{Kind: "x"}}, apierrors.NewNotFound(schema.GroupResource{Resource: "x"}, ""),
	}
}
