package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

func TestReadMonolith(t *testing.T) {
	record, err := readMonolith()
	require.NoError(t, err)
	assert.NotEmpty(t, record.Subject)
	assert.NotEmpty(t, record.Conditions)
	for name, conditions := range map[string]string{
		"infrastructure": record.Infrastructure.Conditions, "atOnce": record.AtOnce.Conditions, "idle": record.Idle.Conditions,
		"memory": record.Memory.Conditions, "machines": record.Machines.Conditions,
	} {
		assert.NotEmpty(t, conditions, "the figures of %s say how they were measured", name)
	}
	assert.Equal(t, machines, record.Machines.Machines, "ours are measured with as many")
	assert.Equal(t, recordedOperation{Calls: 23, Logins: 2, Seconds: 5.6, Ratio: .14}, record.Infrastructure.First)
	assert.Equal(t, recordedOperation{Calls: 13, Logins: 2, Seconds: 1.8, Ratio: .2}, record.Infrastructure.NoOp)
	assert.Equal(t, recordedOperation{Calls: 16, Logins: 1, Seconds: 5, Ratio: .23}, record.Infrastructure.Delete)
	assert.Equal(t, recordedMemory{Resident: 98, Anonymous: 36}, record.Memory.Idle)
	assert.Equal(t, recordedMachines{CallsPerMachine: 7, Seconds: 1.8}, record.Machines.Delete)
}

func TestReadMonolith_UnknownField(t *testing.T) {
	assert.Error(t, yaml.UnmarshalStrict(append([]byte("wall: 3\n"), monolithYAML...), &monolith{}))
}
