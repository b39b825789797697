package manager

import (
	"bytes"
	"errors"
	"net/http"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/cluster"

	"github.com/trellis-garden/trellis/internal/metriclist"
)

func TestListMetrics(t *testing.T) {
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
	binary := testBinary()
	binary.AddToScheme = addNothing
	var types []string
	binary.Setup = func(p *Process) error {
		types = p.Types
		p.HandleDebug("/debug/own", http.NotFoundHandler())
		// What controllers of real binaries ask an API server for when they are set up.
		_, err := p.Manager.GetRESTMapper().RESTMapping(schema.GroupKind{Kind: "Secret"}, "v1")
		require.NoError(t, err)
		_, err = cluster.New(p.Manager.GetConfig(), func(o *cluster.Options) {
			o.Scheme = p.Manager.GetScheme()
			o.Cache.ByObject = map[client.Object]cache.ByObject{&corev1.Secret{}: {}}
		})
		require.NoError(t, err)
		return p.Registerer.Register(prometheus.NewCounterVec(prometheus.CounterOpts{Name: "trellis_example_total", Help: "An example."}, []string{"result"}))
	}
	var out, problems bytes.Buffer
	require.Zero(t, binary.run(t.Context(), []string{"--list-metrics"}, environment{}, &out, &problems), &problems)
	assert.Equal(t, binary.Types, types, "all types by default")
	metrics, err := metriclist.Read(&out)
	require.NoError(t, err)
	assert.Equal(t, []metriclist.Metric{
		{Name: "trellis_build_info", Type: "gauge", Labels: []string{"commit", "date", "version"}, Help: "Always 1; the labels identify the build."},
		{Name: "trellis_example_total", Type: "counter", Labels: []string{"result"}, Help: "An example."},
	}, metrics)

	out.Reset()
	require.Zero(t, binary.run(t.Context(), []string{"--list-metrics", "--types=" + binary.Types[0]}, environment{}, &out, &problems))
	assert.Equal(t, binary.Types[:1], types)

	binary.Setup = func(*Process) error { return errors.New("no driver") }
	assert.Equal(t, exitFailure, binary.run(t.Context(), []string{"--list-metrics"}, environment{}, &out, &problems))
	assert.Contains(t, problems.String(), "infrastructure-controller: setting up infrastructure-controller: no driver\n")
}
