package webhook

import (
	"errors"
	"net/http"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

func TestResultOf(t *testing.T) {
	invalid := admission.Response{AdmissionResponse: admissionv1.AdmissionResponse{Result: &metav1.Status{Code: http.StatusUnprocessableEntity}}}
	patched := admission.Allowed("")
	patched.Patch = []byte("[]")
	for sentence, test := range map[string]struct {
		response admission.Response
		want     string
	}{
		"yes":                                 {admission.Allowed(""), "allowed"},
		"yes, but otherwise":                  {patched, "patched"},
		"no":                                  {admission.Denied("no"), "denied"},
		"no, for an error":                    {invalid, "denied"},
		"no, since nobody knows":              {admission.Errored(http.StatusInternalServerError, errors.New("x")), "failed"},
		"no, since the object makes no sense": {admission.Errored(http.StatusBadRequest, errors.New("x")), "failed"},
	} {
		t.Run(sentence, func(t *testing.T) { assert.Equal(t, test.want, resultOf(test.response)) })
	}
}

func TestResults_InitializedBeforeFirstRequest(t *testing.T) {
	registry := prometheus.NewRegistry()
	first, err := newResults(registry)
	require.NoError(t, err)
	first.initialize("shoot")
	again, err := newResults(registry)
	require.NoError(t, err)
	again.count("shoot", admission.Allowed(""))
	assert.Equal(t, map[string]float64{"allowed": 1, "patched": 0, "denied": 0, "failed": 0, "busy": 0}, countsOf(t, registry))
}

// countsOf returns how often there was which answer, of all webhooks together.
func countsOf(t *testing.T, registry *prometheus.Registry) map[string]float64 {
	t.Helper()
	counts, err := gatherResults(registry)
	require.NoError(t, err)
	return counts
}

func gatherResults(registry *prometheus.Registry) (map[string]float64, error) {
	families, err := registry.Gather()
	if err != nil {
		return nil, err
	}
	counts := map[string]float64{}
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			for _, label := range metric.GetLabel() {
				if label.GetName() == "result" {
					counts[label.GetValue()] += metric.GetCounter().GetValue()
				}
			}
		}
	}
	return counts, nil
}
