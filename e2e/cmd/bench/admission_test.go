package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/trellis-garden/trellis/e2e/internal/process"
)

func TestPercentilesAreThoseOfTheSortedTimes(t *testing.T) {
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

func TestFiguresOfAdmissionAreInColumns(t *testing.T) {
	lines := answersTable([]answers{{of: "shoot.openstack, new", times: []time.Duration{1500 * time.Microsecond}, wall: time.Second}})
	assert.Regexp(t, `^shoot\.openstack, new +1\.5 ms +1\.5 ms +1\.5 ms +1$`, lines[1])
	memory := process.Memory{All: 30 * megabyte, Private: 6 * megabyte}
	assert.Regexp(t, `^at most, while it is asked +6 MB +30 MB$`, admissionFootprint(40*megabyte, memory, memory, memory)[3])
}
