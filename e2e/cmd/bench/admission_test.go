package main

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/e2e/internal/process"
)

func TestPercentile(t *testing.T) {
	var times []time.Duration
	for i := range 100 {
		times = append(times, time.Duration(100-i)*time.Millisecond)
	}
	assert.Equal(t, 51*time.Millisecond, percentile(times, 50))
	assert.Equal(t, 100*time.Millisecond, percentile(times, 99))
	assert.Equal(t, 100*time.Millisecond, percentile(times, 100))
	assert.Equal(t, 100*time.Millisecond, times[0], "they stay in their order")
	assert.Zero(t, percentile(nil, 99))
}

func TestAdmissionObjects_Size(t *testing.T) {
	const bound = 64 << 10
	for _, shoot := range []*gardencorev1beta1.Shoot{withGroups(6000, numbered), withGroups(21000, func(string, int) string { return "" })} {
		size := len(shoot.Spec.Provider.Workers[0].ProviderConfig.Raw)
		assert.LessOrEqual(t, size, bound)
		assert.Greater(t, size, bound*8/10)
	}
}

func TestResponseTable(t *testing.T) {
	lines := responseTable([]responseTimes{{request: "shoot.openstack, new", times: []time.Duration{1500 * time.Microsecond}, wall: time.Second, retries: 7}})
	assert.Regexp(t, `^shoot\.openstack, new +1\.5 ms +1\.5 ms +1\.5 ms +1 +7$`, lines[1])
	memory := process.Memory{All: 30 * megabyte, Private: 6 * megabyte}
	assert.Regexp(t, `^at most, while it is asked +6 MB +30 MB$`, admissionFootprint(40*megabyte, memory, memory, memory)[3])
}

func TestReview(t *testing.T) {
	type answer struct {
		code       int
		retryAfter string
		body       string
	}
	const (
		allowed = `{"response":{"allowed":true}}`
		refused = `{"response":{"allowed":false}}`
	)
	tests := map[string]struct {
		answers []answer
		retries int
		err     string
	}{
		"returns when the review is allowed": {answers: []answer{{code: 200, body: allowed}}},
		"retries while the webhook is busy":  {answers: []answer{{code: 429, retryAfter: "1"}, {code: 200, body: allowed}}, retries: 1},
		"fails on 429 without Retry-After":   {answers: []answer{{code: 429, body: "busy"}}, err: "429 Too Many Requests"},
		"fails when the review is refused":   {answers: []answer{{code: 200, body: refused}}, err: "the Shoot is refused"},
		"fails when the answer is no review": {answers: []answer{{code: 200, body: "busy"}}, err: "reading the answer of"},
		"fails when there is no response":    {answers: []answer{{code: 200, body: "{}"}}, err: "without a response"},
		"fails on a server's error":          {answers: []answer{{code: 500, retryAfter: "1"}}, err: "500 Internal Server Error"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			calls := 0
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				next := test.answers[min(calls, len(test.answers)-1)]
				calls++
				if next.retryAfter != "" {
					w.Header().Set("Retry-After", next.retryAfter)
				}
				w.WriteHeader(next.code)
				_, _ = w.Write([]byte(next.body))
			}))
			defer server.Close()
			retries, err := review(t.Context(), server.Client(), server.URL, nil, true)
			assert.Equal(t, test.retries, retries)
			if test.err == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, test.err)
		})
	}
}
