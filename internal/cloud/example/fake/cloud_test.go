package fake_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/cloud/example/fake"
)

func TestCloud(t *testing.T) {
	preloaded := []fake.Resource{
		{Kind: fake.Networks, ID: "a", Name: "one", Owner: "uid"},
		{Kind: fake.Subnets, ID: "b", Name: "one", Owner: "uid", Network: "a", CIDR: "10.250.0.0/16"},
		{Kind: fake.Groups, ID: "c", Name: "pool", Owner: "uid"},
		{Kind: fake.Servers, ID: "d", Name: "node", Owner: "uid", Network: "a", Group: "c"},
	}
	for sentence, test := range map[string]struct {
		key, method, path, body string
		status                  int
		want                    string
		left                    int
	}{
		"an unknown key":                   {"other", "GET", "/networks", "", 401, "Unauthenticated", 4},
		"an unknown collection":            {fake.Key, "GET", "/volumes", "", 404, "", 4},
		"all resources":                    {fake.Key, "GET", "/networks", "", 200, `[{"id":"a","name":"one","owner":"uid"}]`, 4},
		"resources of others":              {fake.Key, "GET", "/networks?owner=other", "", 200, `[]`, 4},
		"a network":                        {fake.Key, "POST", "/networks", `{"name":"two","owner":"uid"}`, 201, `"id":"networks-1"`, 5},
		"a chosen ID":                      {fake.Key, "POST", "/networks", `{"id":"x","name":"two"}`, 422, "the cloud chooses the ID", 4},
		"no name":                          {fake.Key, "POST", "/networks", `{}`, 422, "a name is required", 4},
		"an unknown field":                 {fake.Key, "POST", "/networks", `{"nam":"two"}`, 400, "unknown field", 4},
		"a subnet of no network":           {fake.Key, "POST", "/subnets", `{"name":"two","network":"x"}`, 422, `there is no network`, 4},
		"a server of no group":             {fake.Key, "POST", "/servers", `{"name":"two","network":"a","group":"x"}`, 422, `there is no group`, 4},
		"deletion of a used network":       {fake.Key, "DELETE", "/networks/a", "", 409, "InUse", 4},
		"deletion of a used group":         {fake.Key, "DELETE", "/groups/c", "", 409, "it is used by d (node)", 4},
		"deletion of a server":             {fake.Key, "DELETE", "/servers/d", "", 204, "", 3},
		"deletion of a missing server":     {fake.Key, "DELETE", "/servers/x", "", 404, "NotFound", 4},
		"deletion in the wrong collection": {fake.Key, "DELETE", "/servers/b", "", 404, "NotFound", 4},
	} {
		t.Run(sentence, func(t *testing.T) {
			c, err := fake.Start(preloaded...)
			require.NoError(t, err)
			defer func() { require.NoError(t, c.Close()) }()
			request, err := http.NewRequestWithContext(t.Context(), test.method, c.URL()+test.path, strings.NewReader(test.body))
			require.NoError(t, err)
			request.Header.Set("Authorization", "Bearer "+test.key)
			response, err := http.DefaultClient.Do(request)
			require.NoError(t, err)
			content, err := io.ReadAll(response.Body)
			require.NoError(t, err)
			require.NoError(t, response.Body.Close())
			assert.Equal(t, test.status, response.StatusCode)
			assert.Contains(t, string(content), test.want)
			assert.Len(t, c.Resources(), test.left)
		})
	}
}
