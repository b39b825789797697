//go:build netpol

package netpol

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/trellis-garden/trellis/e2e/internal/kindcluster"
	"github.com/trellis-garden/trellis/e2e/internal/repo"
)

// routerName is the name of the DaemonSet of gardenet's service routers in shoots without kube-proxy.
const routerName = "gardenet-service-router"

// networkWithoutKubeProxy is gardenet as its driver renders it for a shoot without kube-proxy, with images as they are released.
func networkWithoutKubeProxy(ctx context.Context, cluster kindcluster.Options) (*kindcluster.Network, error) {
	const version = "local"
	root, err := repo.Root()
	if err != nil {
		return nil, err
	}
	network := &kindcluster.Network{}
	for _, binary := range []string{agentName, routerName} {
		archive, err := repo.ReleaseImage(ctx, filepath.Join(root, ".cache", "netpol"), binary, version)
		if err != nil {
			return nil, err
		}
		network.Images = append(network.Images, archive)
	}
	pods, services := kindcluster.Ranges(cluster.IPFamily)
	image := func(binary string) string { return repo.ImagePrefix + binary + ":" + version }
	network.Manifest, err = repo.Go(ctx, root, nil, "run", "./internal/network/gardenet/manifest", "-image="+image(agentName), "-pods="+pods,
		"-router-image="+image(routerName), "-services="+services, "-api-server="+kindcluster.APIServer(cluster.Name))
	if err != nil {
		return nil, fmt.Errorf("rendering gardenet: %w", err)
	}
	return network, nil
}

// TestServiceRouters finds nothing of kube-proxy where there should be none, so that all other tests depend on the routers.
func TestServiceRouters(t *testing.T) {
	env := getEnvironment(t)
	if !env.withoutKubeProxy {
		t.Skip("the cluster has kube-proxy")
	}
	sets, err := env.clients.AppsV1().DaemonSets(metav1.NamespaceSystem).List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	names := map[string]int32{}
	for _, set := range sets.Items {
		names[set.Name] = set.Status.NumberReady
	}
	assert.Equal(t, map[string]int32{agentName: 3, routerName: 3}, names)
	const noChains = "! iptables-save | grep KUBE-SERVICES && ! ip6tables-save | grep KUBE-SERVICES"
	assert.NoError(t, env.Execute(t.Context(), "", "sh", "-c", noChains), "rules of kube-proxy in a node")
}
