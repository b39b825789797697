package openstack

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake"
)

// createServer creates a server with these keys in its metadata, bypassing the driver, and returns its ID.
func (s *testCloud) createServer(t *testing.T, name string, tags ...string) string {
	t.Helper()
	metadata := fake.Attrs{}
	for _, tag := range tags {
		metadata[tag] = "1"
	}
	flavor, err := s.cloud.DoAsOperator(fake.DefaultProject, "GET", "nova", "/v2.1/flavors", nil)
	require.NoError(t, err)
	image, err := s.cloud.DoAsOperator(fake.DefaultProject, "GET", "glance", "/v2/images", nil)
	require.NoError(t, err)
	id, err := s.cloud.CreateResource(fake.DefaultProject, "servers", fake.Attrs{
		"name": name, "flavorRef": firstID(t, flavor["flavors"]), "imageRef": firstID(t, image["images"]), "networks": []fake.Attrs{{"uuid": s.storage}}, "metadata": metadata,
	})
	require.NoError(t, err)
	return id
}

func firstID(t *testing.T, list any) string {
	t.Helper()
	rows, _ := list.([]any)
	require.NotEmpty(t, rows)
	row, _ := rows[0].(map[string]any)
	id, _ := row["id"].(string)
	require.NotEmpty(t, id)
	return id
}

func (s *testCloud) createPort(t *testing.T, network, name, description string) string {
	t.Helper()
	id, err := s.cloud.CreateResource(fake.DefaultProject, "ports", fake.Attrs{"network_id": network, "name": name, "description": description})
	require.NoError(t, err)
	return id
}
