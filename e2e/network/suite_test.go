package network

import (
	"testing"

	"github.com/trellis-garden/trellis/e2e/internal/controller"
	"github.com/trellis-garden/trellis/e2e/internal/ground"
	"github.com/trellis-garden/trellis/e2e/internal/ground/groundtest"
)

// part is one in the life of a shoot. It takes over what the one before has left.
type part struct {
	name string
	play func(*testing.T, *world)
}

// TestNetwork leads shoots through their lives, side by side, each with API servers of its own.
func TestNetwork(t *testing.T) {
	var asked groundtest.Requests
	t.Run("Lives", func(t *testing.T) {
		t.Run("Young", func(t *testing.T) { live(t, &asked, ground.Options{}, youth()) })
		t.Run("Old", func(t *testing.T) { live(t, &asked, ground.Options{Destination: true}, age()) })
	})
	if !t.Failed() {
		t.Run("Rights", func(t *testing.T) { asked.AssertAllNeeded(t, controller.Network()) })
	}
}

// youth is a shoot that comes into being, and whose overlay and families change.
func youth() []part {
	return []part{
		{"Create", testCreate},
		{"Nodes", testNodes},
		{"Again", testAgain},
		{"DryRun", testDryRun},
		{"Scraping", testScraping},
		{"Programs", testPrograms},
		{"Sick", testSick},
		{"OverlayOff", testOverlayOff},
		{"DualStack", testDualStack},
		{"Well", testWell},
		{"OverlayOn", testOverlayOn},
		{"KubeProxy", testKubeProxy},
	}
}

// age is a shoot that changes in all other ways, moves, sleeps and is deleted; and three more that begin or end otherwise.
func age() []part {
	return []part{
		{"Create", testCreate},
		{"Multus", testMultus},
		{"Typha", testTypha},
		{"VXLAN", testVXLAN},
		{"Move", testMove},
		{"Hibernation", testHibernation},
		{"Delete", testDelete},
		{"Renderings", testRenderings},
		{"TakeOver", testTakeOver},
		{"DeleteTakenOver", testDeleteTakenOver},
		{"DeleteHalfMade", testDeleteHalfMade},
		{"ForceDelete", testForceDelete},
	}
}

func live(t *testing.T, asked *groundtest.Requests, options ground.Options, life []part) {
	t.Parallel()
	w := newWorld(t, options)
	groundtest.AssertNoErrors(t, w.Ground, mistakes()...)
	defer func() { asked.Add(t, controller.Network(), w.Seeds()...) }()
	for _, part := range life {
		if !t.Run(part.name, func(t *testing.T) { part.play(t, w) }) {
			break // the next would only say the same in more words
		}
	}
}

// mistakes are the errors of what the parts configure wrongly on purpose.
func mistakes() []string {
	return []string{"ipam.type cannot go from calico-ipam back to host-local", "carrier pigeons", "without kube-proxy nobody routes Services"}
}
