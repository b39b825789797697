package stack

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

func TestCloudsYAML(t *testing.T) {
	content, err := cloudsYAML("the-id")
	require.NoError(t, err)
	var file struct {
		Clouds map[string]struct {
			Region string            `json:"region_name"`
			Type   string            `json:"auth_type"`
			Auth   map[string]string `json:"auth"`
		} `json:"clouds"`
	}
	require.NoError(t, yaml.Unmarshal(content, &file))
	assert.Len(t, file.Clouds, 3)
	for name, cloud := range file.Clouds {
		assert.Equal(t, "RegionOne", cloud.Region, name)
		assert.Equal(t, "http://127.0.0.1:28000/v3", cloud.Auth["auth_url"], name)
	}
	assert.Equal(t, "admin", file.Clouds["admin"].Auth["username"])
	assert.Equal(t, "garden", file.Clouds["member"].Auth["project_name"])
	assert.Equal(t, "v3applicationcredential", file.Clouds["member-appcred"].Type)
	assert.Equal(t, "the-id", file.Clouds["member-appcred"].Auth["application_credential_id"])
}
