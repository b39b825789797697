package rollouts

import (
	"fmt"
	"slices"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	installationv1alpha1 "github.com/trellis-garden/trellis/apis/installation/v1alpha1"
	"github.com/trellis-garden/trellis/e2e/internal/garden"
)

// The waves, by the label of seeds. Those of the last one have none.
const (
	stageLabel = "stage"
	canary     = "canary"
	early      = "early"
	late       = installationv1alpha1.RestWave
)

// site is a seed, and the API server that it shares with others.
type site struct {
	seed, wave string
	cluster    *cluster
}

func (s site) labels() map[string]string {
	if s.wave == late {
		return nil
	}
	return map[string]string{stageLabel: s.wave}
}

// setUp makes the seeds. What they need of Gardener's own kinds is registered as charts that are gardenlet's to install, and so are never installed.
func (env *environment) setUp(t *testing.T) {
	t.Helper()
	require.NoError(t, env.Register(t.Context(), garden.Registration{Name: others, Resources: slices.Concat(
		garden.Primary(garden.CloudProfile, "Infrastructure", "ControlPlane", "Worker"), garden.Primary(garden.DNS, "DNSRecord"),
	)}))
	var sites []site
	for _, stage := range []struct {
		wave  string
		seeds int
	}{{canary, 3}, {early, 7}, {late, 10}} {
		for i := range stage.seeds {
			sites = append(sites, env.newSite(stage.wave, i+1, len(sites)))
		}
	}
	adding := errgroup.Group{}
	adding.SetLimit(4)
	for _, s := range sites {
		adding.Go(func() error { return env.addSite(t, s) })
	}
	require.NoError(t, adding.Wait())
	env.sites = sites
	assert.Len(t, env.sites, 20)
}

// newSite describes the n-th seed of a wave. Seeds next to each other are on different API servers.
func (env *environment) newSite(wave string, n, of int) site {
	return site{seed: fmt.Sprintf("%s-%02d", wave, n), wave: wave, cluster: env.clusters[of%clusterCount]}
}

func (env *environment) addSite(t *testing.T, s site) error {
	if err := env.Client.Create(t.Context(), access(s.seed, s.cluster.proxy.Kubeconfig())); err != nil {
		return err
	}
	_, err := env.AddSeed(t.Context(), s.seed, garden.SeedOptions{Labels: s.labels()})
	return err
}

// access is how the operator gets into a seed.
func access(seed string, kubeconfig []byte) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: "installation-access-" + seed, Namespace: inGarden},
		Data:       map[string][]byte{"kubeconfig": kubeconfig},
	}
}

func (env *environment) setAccess(t *testing.T, s site, kubeconfig []byte) {
	t.Helper()
	require.NoError(t, env.Client.Update(t.Context(), access(s.seed, kubeconfig)))
}

// site returns the seed of that name.
func (env *environment) site(t *testing.T, seed string) site {
	t.Helper()
	i := slices.IndexFunc(env.sites, func(s site) bool { return s.seed == seed })
	require.GreaterOrEqual(t, i, 0, "there is no seed %s", seed)
	return env.sites[i]
}

// installations returns those of a registration by the names of their seeds.
func (env *environment) installations(t *testing.T, registration string) map[string]*gardencorev1beta1.ControllerInstallation {
	t.Helper()
	list := &gardencorev1beta1.ControllerInstallationList{}
	require.NoError(t, env.Client.List(t.Context(), list, client.MatchingFields{"spec.registrationRef.name": registration}))
	found := map[string]*gardencorev1beta1.ControllerInstallation{}
	for i := range list.Items {
		installation := &list.Items[i]
		require.NotContains(t, found, installation.Spec.SeedRef.Name, "a seed has it twice")
		found[installation.Spec.SeedRef.Name] = installation
	}
	return found
}

// namespaceOf is where the objects of an installation are.
func namespaceOf(installation string) string { return "extension-" + installation }
