package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestPluginNamed(t *testing.T) {
	for name, want := range map[string]string{"": "calico", "calico": "calico", "gardenet": "gardenet"} {
		entry, err := pluginNamed(name)
		require.NoError(t, err)
		assert.Equal(t, want, entry.name)
		assert.Equal(t, "extension-networking-"+want+"-config", entry.resource())
	}
	_, err := pluginNamed("cilium")
	require.EqualError(t, err, `NETWORK or --network: there is no demo of "cilium"; the network plugins are calico and gardenet`)
}

func TestWayLine(t *testing.T) {
	for document, want := range map[string]string{
		`{"podRanges":["100.96.0.0/11"],"routes":"cloud"}`:                                            "100.96.0.0/11, routes of the cloud",
		`{"podRanges":["100.96.0.0/11","fd00::/64"],"routes":"tunnel","tunnel":{"id":1,"port":8472}}`: "100.96.0.0/11, fd00::/64, routes of the tunnel, VXLAN 1 at port 8472",
	} {
		line, err := wayLine(document)
		require.NoError(t, err)
		assert.Equal(t, want, line)
	}
	_, err := wayLine("no document")
	require.Error(t, err)
}
