package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCloudNamed(t *testing.T) {
	for name, want := range map[string]string{"": "openstack", "openstack": "openstack", "aws": "aws"} {
		entry, err := cloudNamed(name)
		require.NoError(t, err)
		assert.Equal(t, want, entry.name)
	}
	_, err := cloudNamed("AWS")
	require.EqualError(t, err, `CLOUD or --cloud: there is no demo of "AWS"; the clouds are aws and openstack`)
}

func TestClouds_Complete(t *testing.T) {
	for _, entry := range clouds() {
		assert.NotEmpty(t, entry.heading, entry.name)
		assert.NotNil(t, entry.attach, entry.name)
		assert.NotEmpty(t, entry.machines, entry.name)
		assert.NotNil(t, entry.start(time.Second), entry.name)
	}
}
