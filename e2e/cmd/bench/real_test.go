package main

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/wire"
)

func TestCompare(t *testing.T) {
	calls := func(methods ...string) map[string]cost {
		var log wire.Calls
		for _, method := range methods {
			log = append(log, wire.Call{Service: wire.Neutron, Method: method, Path: "/v2.0/networks"})
		}
		return map[string]cost{rowFirst: {log: log}}
	}
	for sentence, c := range map[string]struct {
		standIn, genuine map[string]cost
		says             []string
	}{
		"no second cloud":              {calls("GET"), nil, nil},
		"the same calls, in any order": {calls("GET", "POST"), calls("POST", "GET"), nil},
		"a call more on the real cloud": {
			calls("GET"), calls("GET", "GET"), []string{"first: neutron GET /v2.0/networks: 1 on the stand-in, 2 on the real cloud"},
		},
		"another call": {calls("GET"), calls("PUT"), []string{
			"first: neutron GET /v2.0/networks: 1 on the stand-in, 0 on the real cloud",
			"first: neutron PUT /v2.0/networks: 0 on the stand-in, 1 on the real cloud",
		}},
	} {
		t.Run(sentence, func(t *testing.T) {
			err := compare(c.standIn, c.genuine)
			if c.says == nil {
				require.NoError(t, err)
			}
			for _, says := range c.says {
				assert.ErrorContains(t, err, says)
			}
		})
	}
}

func TestFindingTheSecondCloud(t *testing.T) {
	t.Setenv("OS_CLIENT_CONFIG_FILE", t.TempDir()+"/clouds.yaml")
	require.NoError(t, os.WriteFile(os.Getenv("OS_CLIENT_CONFIG_FILE"), []byte(`clouds:
  mine: {region_name: here, auth: {auth_url: "https://keystone.example.org/v3", username: root, password: secret, project_name: admin}}
`), 0o600))
	cloud, why, err := find("mine")
	require.NoError(t, err)
	assert.Empty(t, why)
	assert.Equal(t, "https://keystone.example.org/v3", cloud.AuthURL)

	_, _, err = find("another")
	assert.ErrorContains(t, err, `cloud "another"`)
}
