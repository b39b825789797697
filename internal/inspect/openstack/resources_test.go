package openstack

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/inspect"
)

const group = `"apiVersion":"openstack.provider.extensions.gardener.cloud/v1alpha1"`

// state returns a state with that data.
func state(t *testing.T, data map[string]string) []byte {
	t.Helper()
	raw, err := json.Marshal(data)
	require.NoError(t, err)
	return []byte(`{` + group + `,"kind":"InfrastructureState","data":` + string(raw) + `}`)
}

// draw writes a tree, a resource a line.
func draw(resources []inspect.Resource) string {
	var lines strings.Builder
	var write func([]inspect.Resource, string)
	write = func(resources []inspect.Resource, indent string) {
		for _, r := range resources {
			lines.WriteString(indent + strings.Join([]string{r.Kind, r.Name, r.ID, r.Detail, string(r.Origin), r.Note}, "|") + "\n")
			write(r.Children, indent+"  ")
		}
	}
	write(resources, "")
	return lines.String()
}

func TestCloud_Resources(t *testing.T) {
	upstream := map[string]string{
		"Network": "n", "NetworkName": "shoot--a", "Subnet": "s", "Router": "r", "KeyPair": "shoot--a", "SecurityGroup": "g", "SecurityGroupName": "shoot--a",
		"FloatingNetwork": "f", "FloatingNetworkName": "public", "resource_exist": "true", "RouterIP": "203.0.113.9",
	}
	ours := map[string]string{
		"Network": "n", "NetworkName": "shoot--a", "Subnet": "s", "Router": "r", "KeyPair": "k", "FloatingNetwork": "f", "FloatingNetworkName": "public",
		"trellis.ownership": `{"Network":"own","Router":"given","Subnet":"own","KeyPair":"own"}`, "trellis.project": "p",
		"trellis.intents":          `{"ShareNetwork":"shoot--a"}`,
		"trellis.uncertainCreates": `{"SecurityGroup":"2026-11-28T03:00:00Z"}`,
		"trellis.leftovers":        "floatingip/i,securitygroup/j,other/x",
	}
	const status = `{` + group + `,"kind":"InfrastructureStatus","networks":{"id":"n","name":"shoot--a","floatingPool":{"id":"f","name":"public"},
		"router":{"id":"r","ip":"203.0.113.9","externalFixedIP":["203.0.113.9","2001:db8::9"]},
		"subnets":[{"purpose":"nodes","id":"s","cidr":"10.250.0.0/19"},{"purpose":"nodes-ipv6","id":"s6","cidr":"2001:db8:1::/64"}]},
		"node":{"keyName":"k"},"securityGroups":[{"purpose":"nodes","id":"g","name":"shoot--a"}]}`
	for sentence, test := range map[string]struct {
		recorded inspect.Recorded
		want     string
	}{
		"nothing": {},
		"a state of the upstream extension": {inspect.Recorded{State: state(t, upstream)}, `
external network|public|f||Shared|
  router||r|203.0.113.9|FormerExtension|
    network|shoot--a|n||FormerExtension|
      subnet of nodes||s||FormerExtension|
security group|shoot--a|g||FormerExtension|
key pair||shoot--a||FormerExtension|
`},
		"a state of the upstream extension, with a network and a router of the user": {
			inspect.Recorded{State: state(t, upstream), Config: []byte(`{"networks":{"id":"n","router":{"id":"r"}}}`)}, `
external network|public|f||Shared|
  router||r|203.0.113.9|User|
    network|shoot--a|n||User|
      subnet of nodes||s||FormerExtension|
security group|shoot--a|g||FormerExtension|
key pair||shoot--a||FormerExtension|
`,
		},
		"a state of Trellis, with creations that have no result": {inspect.Recorded{State: state(t, ours), Status: []byte(status)}, `
external network|public|f||Shared|
  router||r|203.0.113.9, 2001:db8::9|User|
    network|shoot--a|n||Trellis|
      subnet of nodes||s|10.250.0.0/19|Trellis|
      IPv6 subnet of nodes||s6|2001:db8:1::/64|Unknown|
      share network||||Trellis|the creation of "shoot--a" was about to begin
security group|shoot--a|g||Unknown|the result of a creation is unknown since 2026-11-28T03:00:00Z
key pair||k||Trellis|
floating IP||i||Workload|remains after a load balancer, deleted with the shoot
security group||j||Workload|remains after a load balancer, deleted with the shoot
other||x||Workload|remains after a load balancer, deleted with the shoot
`},
		"a shoot that was adopted, with a subnet of the user": {
			inspect.Recorded{State: state(t, map[string]string{
				"Network": "n", "Subnet": "s", "Router": "r", "trellis.interface": "s", "trellis.adopted": "true",
				"trellis.ownership": `{"Network":"given","Router":"own","Subnet":"given","trellis.interface":"own"}`,
			})}, `
router||r||Adopted|
  router interface||s|in the subnet with this ID|Adopted|
  network||n||User|
    subnet of nodes||s||User|
`,
		},
		"a state of Terraform, and a status": {inspect.Recorded{State: []byte(`{"version":4}`), Status: []byte(status)}, `
external network|public|f||Shared|
  router||r|203.0.113.9, 2001:db8::9|FormerExtension|
    network|shoot--a|n||FormerExtension|
      subnet of nodes||s|10.250.0.0/19|FormerExtension|
      IPv6 subnet of nodes||s6|2001:db8:1::/64|FormerExtension|
security group|shoot--a|g||FormerExtension|
key pair||k||FormerExtension|
`},
		"a status alone": {inspect.Recorded{Status: []byte(`{"networks":{"id":"n"}}`)}, "\nnetwork||n||Unknown|\n"},
	} {
		t.Run(sentence, func(t *testing.T) {
			got, err := Cloud{}.Resources(test.recorded)
			require.NoError(t, err)
			assert.Equal(t, strings.TrimPrefix(test.want, "\n"), draw(got))
		})
	}
}

func TestCloud_Resources_Unreadable(t *testing.T) {
	got, err := Cloud{}.Resources(inspect.Recorded{
		State: []byte(`{` + group + `,"data":7}`), Status: []byte(`{"node":{"keyName":"k"}}`), Config: []byte(`[]`),
	})
	assert.ErrorContains(t, err, "reading status.state: ")
	assert.ErrorContains(t, err, "reading spec.providerConfig: ")
	assert.Equal(t, "key pair||k||Unknown|\n", draw(got), "what can be read is returned")
}
