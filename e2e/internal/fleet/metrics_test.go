package fleet

import (
	"math"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/e2e/internal/controller"
)

func TestReplica_Metrics(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`# TYPE leader_election_master_status gauge
leader_election_master_status{name="a"} 1
# TYPE took histogram
took_bucket{controller="a",le="0.1"} 2
took_bucket{controller="a",le="1"} 10
took_bucket{controller="a",le="+Inf"} 10
took_sum{controller="a"} 4
took_count{controller="a"} 10
took_bucket{controller="b",le="0.1"} 1
took_bucket{controller="b",le="1"} 1
took_bucket{controller="b",le="+Inf"} 1
took_sum{controller="b"} 1
took_count{controller="b"} 1
`))
	}))
	t.Cleanup(server.Close)
	replica := &Replica{Controller: &controller.Controller{MetricsURL: server.URL}}
	metrics, err := replica.Metrics(t.Context())
	require.NoError(t, err)
	assert.InDelta(t, 1, metrics.Sum("leader_election_master_status"), 0)
	assert.InDelta(t, 1, metrics.SumOf("leader_election_master_status", "name", func(value string) bool { return value == "a" }), 0)
	assert.Zero(t, metrics.SumOf("leader_election_master_status", "name", func(value string) bool { return value == "b" }))
	assert.Zero(t, metrics.Sum("unknown"))
	of := metrics.Histogram("took", "controller", func(value string) bool { return value == "a" })
	assert.Equal(t, Histogram{.1: 2, 1: 10, math.Inf(1): 10}, of)
	all := metrics.Histogram("took", "controller", func(string) bool { return true })
	assert.Equal(t, Histogram{.1: 3, 1: 11, math.Inf(1): 11}, all)
	assert.Equal(t, Histogram{.1: 1, 1: 1, math.Inf(1): 1}, all.Minus(of))
	assert.Equal(t, all, of.Plus(all.Minus(of)))
}

func TestHistogram_Quantile(t *testing.T) {
	inf := math.Inf(1)
	for sentence, test := range map[string]struct {
		histogram Histogram
		q, want   float64
	}{
		"nothing was observed":               {Histogram{1: 0, inf: 0}, .5, 0},
		"half of the first bucket":           {Histogram{1: 10, 2: 10, inf: 10}, .5, .5},
		"half of the second bucket":          {Histogram{1: 0, 2: 10, inf: 10}, .5, 1.5},
		"buckets without observations":       {Histogram{1: 5, 2: 5, 4: 10, inf: 10}, .75, 3},
		"what is above the last finite one":  {Histogram{1: 5, 2: 5, inf: 10}, .99, 2},
		"the last observation of the bucket": {Histogram{1: 5, 2: 10, inf: 10}, 1, 2},
	} {
		t.Run(sentence, func(t *testing.T) { assert.InDelta(t, test.want, test.histogram.Quantile(test.q), 1e-9) })
	}
}
