package networking_test

import (
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/apis/networking"
)

func TestInfrastructures(t *testing.T) {
	azure := networking.InfrastructureOf("azure")
	_, err := regexp.Compile(azure.BPFDataInterfaces)
	require.NoError(t, err)
	require.False(t, azure.IPIP, "Azure drops IP-in-IP")
	require.True(t, azure.VXLAN)
	require.False(t, azure.IPv6)
	require.True(t, networking.InfrastructureOf("openstack").PodRoutes, "its routes lead over one router")
	require.False(t, networking.InfrastructureOf("local").CloudRoutes, "there is no cloud")
	require.True(t, networking.InfrastructureOf("aws").RoutesPods(true))
	require.False(t, networking.InfrastructureOf("aws").RoutesPods(false), "IPv6 addresses of pods are those of network interfaces")
	require.True(t, networking.InfrastructureOf("gcp").RoutesPods(false))
	require.False(t, networking.InfrastructureOf("local").RoutesPods(true))
	require.Equal(t, networking.Infrastructure{Type: "ironcore", IPIP: true, VXLAN: true, IPv6: true, CloudRoutes: true},
		networking.InfrastructureOf("ironcore"), "nothing is known of it that it forbids")
	seen := map[string]bool{}
	for _, row := range networking.Infrastructures() {
		require.NotEmpty(t, row.Type)
		require.False(t, seen[row.Type], "%s is there twice", row.Type)
		seen[row.Type] = true
		require.True(t, row.VXLAN || row.IPIP || row.CloudRoutes, "pods on %s could not reach each other", row.Type)
	}
}

func TestUnsupportedMessages(t *testing.T) {
	require.Equal(t, `pods cannot have addresses of IPv6 on infrastructure "azure": leave IPv6 out`, networking.InfrastructureOf("azure").IPv6UnsupportedMessage())
	require.Equal(t, `without kube-proxy nobody routes Services, which network type "example-net" cannot: leave kube-proxy enabled`,
		networking.KubeProxyRequiredMessage("example-net", ""))
	require.Equal(t, `without kube-proxy nobody routes Services, which network type "example-net" does only when it is told to: set kubeProxyReplacement to true, `+
		`or leave kube-proxy enabled`, networking.KubeProxyRequiredMessage("example-net", "set kubeProxyReplacement to true"))
}
