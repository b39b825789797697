//go:build netpol

package netpol

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/trellis-garden/trellis/e2e/internal/kindcluster"
	"github.com/trellis-garden/trellis/e2e/internal/repo"
)

// routerName is the name of the DaemonSet of gardenet's service routers in shoots without kube-proxy.
const routerName = "gardenet-service-router"

// settled is longer than the proxier takes to make all rules after it has noticed a change.
const settled = 5 * time.Second

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

// TestServiceRouters_MakeAllRulesAnew has the routers make all rules anew, again and again, as they do every hour. The first time they confirm what they have made one by
// one, the second time what they have confirmed.
func TestServiceRouters_MakeAllRulesAnew(t *testing.T) {
	if !getEnvironment(t).withoutKubeProxy {
		t.Skip("the cluster has kube-proxy")
	}
	p := newPods(t, "anew")
	p.become(t, true)
	before := p.serviceElements(t)
	require.NotEmpty(t, before)
	for _, zone := range []string{`"one"`, `"two"`, "null"} {
		patch := fmt.Sprintf(`{"metadata": {"labels": {%q: %s}}}`, corev1.LabelTopologyZone, zone)
		_, err := p.env.clients.CoreV1().Nodes().Patch(t.Context(), p.clientNode, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
		require.NoError(t, err)
		time.Sleep(settled)
		assert.Equal(t, before, p.serviceElements(t), "where addresses of Services lead to on %s after its zone became %s", p.clientNode, zone)
	}
	p.become(t, true)
}

// serviceElements lists the addresses of Services that the client's node routes, sorted.
func (p *pods) serviceElements(t *testing.T) []string {
	t.Helper()
	var found []string
	for _, family := range []string{"ip", "ip6"} {
		listing, err := exec.CommandContext(t.Context(), "docker", "exec", p.clientNode, "sh", "-c", "nft list map "+family+" kube-proxy service-ips || true").Output()
		require.NoError(t, err)
		for line := range strings.Lines(string(listing)) {
			if strings.Contains(line, " : goto ") {
				found = append(found, strings.Trim(strings.TrimPrefix(strings.TrimSpace(line), "elements = { "), " ,}\n"))
			}
		}
	}
	slices.Sort(found)
	return found
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
