package main

import (
	"testing"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/stretchr/testify/assert"

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
	lines := responseTable([]responseTimes{{request: "shoot.openstack, new", times: []time.Duration{1500 * time.Microsecond}, wall: time.Second}})
	assert.Regexp(t, `^shoot\.openstack, new +1\.5 ms +1\.5 ms +1\.5 ms +1$`, lines[1])
	memory := process.Memory{All: 30 * megabyte, Private: 6 * megabyte}
	assert.Regexp(t, `^at most, while it is asked +6 MB +30 MB$`, admissionFootprint(40*megabyte, memory, memory, memory)[3])
}
