package mutation

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"testing"

	"github.com/go-logr/logr/funcr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

const settings = `{"metadata":{"name":"settings"},"data":{"a":"1"},"unheardOf":true}`

func request(operation admissionv1.Operation, object, old string) admission.Request {
	r := admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{
		Operation: operation, Kind: metav1.GroupVersionKind{Version: "v1", Kind: "ConfigMap"},
	}}
	r.Object.Raw, r.OldObject.Raw = []byte(object), []byte(old)
	return r
}

func TestHandler(t *testing.T) {
	another := request(admissionv1.Create, settings, "")
	another.Kind.Kind = "Secret"
	part := request(admissionv1.Update, settings, settings)
	part.SubResource = "status"
	deleting := `{"metadata":{"name":"settings","deletionTimestamp":"2026-11-20T12:00:00Z"}}`
	for sentence, test := range map[string]struct {
		request  admission.Request
		mutate   func(object, old *corev1.ConfigMap) error
		calls    int
		patch    string
		code     int32
		complain string
	}{
		"what a function adds": {
			request: request(admissionv1.Create, settings, ""), calls: 1,
			mutate: func(object, old *corev1.ConfigMap) error {
				assert.Nil(t, old)
				object.Data["b"] = "2"
				return nil
			},
			patch: `[{"op":"add","path":"/data/b","value":"2"}]`,
		},
		"what it takes from the object as it was": {
			request: request(admissionv1.Update, settings, `{"data":{"a":"0"}}`), calls: 1,
			mutate: func(object, old *corev1.ConfigMap) error {
				object.Data = old.Data
				return nil
			},
			patch: `[{"op":"replace","path":"/data/a","value":"0"}]`,
		},
		"nothing": {
			request: request(admissionv1.Create, settings, ""), calls: 1,
			mutate: func(*corev1.ConfigMap, *corev1.ConfigMap) error { return nil },
		},
		"a function that fails": {
			request: request(admissionv1.Create, settings, ""), calls: 1,
			mutate:   func(*corev1.ConfigMap, *corev1.ConfigMap) error { return errors.New("no such setting") },
			complain: "no such setting", code: http.StatusInternalServerError,
		},
		"an object of another shape": {
			request: request(admissionv1.Create, `{"data":[]}`, ""), code: http.StatusBadRequest,
			complain: "decoding the ConfigMap: json: cannot unmarshal array into Go struct field ConfigMap.data of type map[string]string",
		},
		"another kind":                       {request: another},
		"a subresource":                      {request: part},
		"a deletion":                         {request: request(admissionv1.Delete, "", settings)},
		"what is being deleted":              {request: request(admissionv1.Create, deleting, "")},
		"what was being deleted, it is told": {request: request(admissionv1.Update, settings, deleting)},
	} {
		t.Run(sentence, func(t *testing.T) {
			calls := 0
			handler := Handler(corev1.SchemeGroupVersion.WithKind("ConfigMap"),
				func(_ context.Context, object, old *corev1.ConfigMap) error {
					calls++
					return test.mutate(object, old)
				})
			response := handler.Handle(t.Context(), test.request)
			assert.Equal(t, test.calls, calls)
			assert.Equal(t, test.complain == "", response.Allowed)
			if test.complain != "" {
				assert.Equal(t, test.code, response.Result.Code)
				assert.Equal(t, test.complain, response.Result.Message)
			}
			if test.patch == "" {
				assert.Empty(t, response.Patch)
				return
			}
			require.True(t, json.Valid(response.Patch))
			assert.JSONEq(t, test.patch, string(response.Patch))
			assert.Equal(t, admissionv1.PatchTypeJSONPatch, *response.PatchType)
		})
	}
}

func TestHandler_LogsErrors(t *testing.T) {
	var lines []string
	log := funcr.New(func(_, line string) { lines = append(lines, line) }, funcr.Options{})
	handler := Handler(corev1.SchemeGroupVersion.WithKind("ConfigMap"), func(context.Context, *corev1.ConfigMap, *corev1.ConfigMap) error {
		return errors.New("no such setting")
	})
	handler.Handle(logf.IntoContext(t.Context(), log), request(admissionv1.Create, settings, ""))
	require.Len(t, lines, 1)
	assert.Contains(t, lines[0], "no such setting")
}

func TestWebhook_SetProviderType(t *testing.T) {
	webhook := Webhook{Name: "settings", Rules: CreateAndUpdateRules("", "v1", "configmaps")}
	webhook.SetProviderType("shoot.gardener.cloud/provider", "one")
	assert.Equal(t, "settings.one", webhook.Name)
	assert.Equal(t, "/settings/one", webhook.Path)
	assert.Equal(t, map[string]string{"shoot.gardener.cloud/provider": "one"}, webhook.NamespaceSelector.MatchLabels)
	require.Len(t, webhook.Rules, 1)
	assert.Equal(t, []string{"configmaps"}, webhook.Rules[0].Resources)
}
