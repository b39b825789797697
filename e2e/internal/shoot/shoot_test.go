package shoot_test

import (
	"strings"
	"testing"

	"github.com/trellis-garden/trellis/e2e/internal/clusters"
	"github.com/trellis-garden/trellis/e2e/internal/clusters/clusterstest"
	"github.com/trellis-garden/trellis/e2e/internal/gardenlet"
	"github.com/trellis-garden/trellis/e2e/internal/openstack"
	"github.com/trellis-garden/trellis/e2e/internal/process"
	"github.com/trellis-garden/trellis/e2e/internal/seed"
	"github.com/trellis-garden/trellis/e2e/internal/shoot"
)

// environment is a seed, and a shoot with its control plane there.
type environment struct {
	programs  string
	seed      *seed.Seed
	cluster   *shoot.Cluster
	gardenlet *gardenlet.Gardenlet
	shoot     *gardenlet.Shoot
	cloud     *openstack.Cloud
	account   *openstack.Account
}

// TestControlPlaneInSeed tests what tests of control planes depend on: objects that gardener-resource-manager applies, tokens, pods, and a
// cloud-controller-manager. None of our controllers runs. All parts share the API servers and run one after another.
func TestControlPlaneInSeed(t *testing.T) {
	env := newEnvironment(t)
	for _, part := range []struct {
		name string
		run  func(*testing.T, *environment)
	}{
		{"ManagedResourceForShoot", testManagedResourceForShoot},
		{"ManagedResourceForSeed", testManagedResourceForSeed},
		{"Nodes", testNodes},
		{"Tokens", testTokens},
		{"Demands", testPodRequirements},
		{"CloudControllerManager", testCloudControllerManager},
		{"Hibernation", testHibernation},
	} {
		t.Run(part.name, func(t *testing.T) { part.run(t, env) })
	}
}

func newEnvironment(t *testing.T) *environment {
	t.Helper()
	found := openstack.In(clusterstest.NewHosting(t, clusters.Options{Cloud: openstack.OpenFake}))
	return &environment{
		programs: found.Programs, seed: found.Source.Seed, cluster: found.Cluster, gardenlet: found.Source.Gardenlet, shoot: found.Shoot,
		cloud: found.Cloud, account: found.Account,
	}
}

// logTail prints the last output of a process if the test failed.
func logTail(t *testing.T, p *process.Process) {
	if t.Failed() {
		output, _ := p.Output()
		lines := strings.Split(output, "\n")
		t.Log(strings.Join(lines[max(0, len(lines)-30):], "\n"))
	}
}
