package v1alpha1_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/trellis-garden/trellis/apis/gardenet/v1alpha1"
	"github.com/trellis-garden/trellis/apis/networking"
)

// effective returns the effective configuration in YAML, without apiVersion and kind.
func effective(t *testing.T, infrastructure, fields string) string {
	t.Helper()
	config, err := v1alpha1.DecodeNetworkConfig(raw(fields))
	require.NoError(t, err)
	before := config.DeepCopy()
	result := config.Default(networking.InfrastructureOf(infrastructure))
	assert.Equal(t, before, config, "the user's configuration stays as it is")
	assert.Equal(t, result, result.Default(networking.InfrastructureOf(infrastructure)), "defaults of defaults are the same")
	result.APIVersion, result.Kind = "", ""
	text, err := yaml.Marshal(result)
	require.NoError(t, err)
	return string(text)
}

func TestDefault(t *testing.T) {
	const want = `bandwidth:
  enabled: true
hostPorts:
  enabled: true
ipam:
  cidr: usePodCIDR
  type: host-local
logging:
  deniedPackets:
    enabled: false
    perSecond: 10
masquerade:
  enabled: true
mtu: 0
networkPolicy:
  enabled: true
  established: recheck
overlay:
  createPodRoutes: false
  enabled: false
  vxlan:
    id: 1
    port: 8472
resources:
  node:
    limits:
      memory: 200Mi
    requests:
      cpu: 10m
      memory: 40Mi
serviceRouting:
  enabled: false
snatToUpstreamDNS:
  enabled: true
`
	assert.Equal(t, want, effective(t, "aws", ""))
	assert.Equal(t, v1alpha1.NewNetworkConfig().Default(networking.InfrastructureOf("aws")), (*v1alpha1.NetworkConfig)(nil).Default(networking.InfrastructureOf("aws")))
}

func TestDefault_Overlay(t *testing.T) {
	for sentence, test := range map[string]struct{ infrastructure, config, enabled, podRoutes, dns string }{
		"off where the cloud routes":                     {"azure", "", "false", "false", "true"},
		"on where it cannot":                             {"local", "", "true", "false", "false"},
		"off with routes of nodes on OpenStack":          {"openstack", "", "false", "true", "true"},
		"on, as the user says":                           {"openstack", `,"overlay":{"enabled":true}`, "true", "false", "false"},
		"off, as the user says":                          {"local", `,"overlay":{"enabled":false,"createPodRoutes":true}`, "false", "true", "true"},
		"a block without the field is no answer":         {"local", `,"overlay":{"vxlan":{"port":4790}}`, "true", "false", "false"},
		"source NAT to DNS servers, as the user says":    {"local", `,"snatToUpstreamDNS":{"enabled":true}`, "true", "false", "true"},
		"no source NAT to DNS servers, as the user says": {"aws", `,"snatToUpstreamDNS":{"enabled":false}`, "false", "false", "false"},
	} {
		t.Run(sentence, func(t *testing.T) {
			text := effective(t, test.infrastructure, test.config)
			assert.Contains(t, text, "overlay:\n  createPodRoutes: "+test.podRoutes+"\n  enabled: "+test.enabled+"\n")
			assert.Contains(t, text, "snatToUpstreamDNS:\n  enabled: "+test.dns+"\n")
		})
	}
}

func TestDefault_Resources(t *testing.T) {
	for sentence, test := range map[string]struct{ node, want string }{
		"a request above the default limit": {
			`"requests":{"memory":"1Gi"}`, "    limits:\n      memory: 1Gi\n    requests:\n      cpu: 10m\n      memory: 1Gi\n",
		},
		"a limit below the default request": {
			`"limits":{"memory":"30Mi","cpu":"5m"}`, "    limits:\n      cpu: 5m\n      memory: 30Mi\n    requests:\n      cpu: 5m\n      memory: 30Mi\n",
		},
		"both": {
			`"requests":{"cpu":"1"},"limits":{"cpu":"2"}`, "    limits:\n      cpu: \"2\"\n      memory: 200Mi\n    requests:\n      cpu: \"1\"\n      memory: 40Mi\n",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			assert.Contains(t, effective(t, "aws", `,"resources":{"node":{`+test.node+`}}`), test.want)
		})
	}
}

func TestDefault_NoPolicies(t *testing.T) {
	assert.Contains(t, effective(t, "aws", `,"networkPolicy":{"enabled":false}`), "networkPolicy:\n  enabled: false\noverlay:")
}
