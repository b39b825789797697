package network

import (
	"testing"

	"github.com/trellis-garden/trellis/e2e/internal/clusters"
	"github.com/trellis-garden/trellis/e2e/internal/clusters/clusterstest"
	"github.com/trellis-garden/trellis/e2e/internal/controller"
)

// part is one in the life of a shoot. It takes over what the one before has left.
type part struct {
	name string
	run  func(*testing.T, *environment)
}

// TestNetwork leads shoots through their lives, side by side, each with API servers of its own.
func TestNetwork(t *testing.T) {
	var requests clusterstest.Requests
	t.Run("Lives", func(t *testing.T) {
		t.Run("Young", func(t *testing.T) { runParts(t, &requests, clusters.Options{}, creationParts()) })
		t.Run("Old", func(t *testing.T) { runParts(t, &requests, clusters.Options{Seeds: 2}, lifecycleParts()) })
		t.Run("Gardenet", func(t *testing.T) { runParts(t, &requests, clusters.Options{Seeds: 2}, gardenetParts()) })
	})
	if !t.Failed() {
		t.Run("Rights", func(t *testing.T) { requests.AssertAllNeeded(t, controller.Network()) })
	}
}

// creationParts is a shoot that comes into being, and whose overlay and families change.
func creationParts() []part {
	return []part{
		{"Create", testCreate},
		{"Nodes", testNodes},
		{"Again", testNoOp},
		{"DryRun", testDryRun},
		{"Scraping", testScraping},
		{"Programs", testPrograms},
		{"Sick", testUnhealthyPod},
		{"OverlayOff", testOverlayOff},
		{"DualStack", testDualStack},
		{"Well", testPodRecovered},
		{"OverlayOn", testOverlayOn},
		{"KubeProxy", testKubeProxy},
	}
}

// lifecycleParts is a shoot that changes in all other ways, moves, sleeps and is deleted; and three more that begin or end otherwise.
func lifecycleParts() []part {
	return []part{
		{"Create", testCreate},
		{"Multus", testMultus},
		{"Typha", testTypha},
		{"VXLAN", testVXLAN},
		{"Move", testMove},
		{"Hibernation", testHibernation},
		{"Delete", testDelete},
		{"Renderings", testRenderings},
		{"TakeOver", testAdoption},
		{"DeleteTakenOver", testDeleteAdopted},
		{"DeleteHalfMade", testDeletePartiallyCreated},
		{"ForceDelete", testForceDelete},
	}
}

func runParts(t *testing.T, requests *clusterstest.Requests, options clusters.Options, parts []part) {
	t.Parallel()
	env := newEnvironment(t, options)
	clusterstest.AssertNoErrors(t, env.Clusters, expectedErrors()...)
	defer func() { requests.Add(t, controller.Network(), env.Seeds...) }()
	for _, part := range parts {
		if !t.Run(part.name, func(t *testing.T) { part.run(t, env) }) {
			break // the next would only say the same in more words
		}
	}
}

// expectedErrors are the errors of what the parts configure wrongly on purpose.
func expectedErrors() []string {
	return []string{"ipam.type cannot go from calico-ipam back to host-local", "carrier pigeons", "without kube-proxy nobody routes Services"}
}
