package network

import "testing"

// TestNetwork leads one shoot through its life, and through three more that begin or end in other ways. All parts share the API
// servers; each takes over what the one before has left.
func TestNetwork(t *testing.T) {
	w := newWorld(t)
	for _, part := range []struct {
		name string
		play func(*testing.T, *world)
	}{
		{"Create", testCreate},
		{"Nodes", testNodes},
		{"Again", testAgain},
		{"DryRun", testDryRun},
		{"Scraping", testScraping},
		{"Sick", testSick},
		{"OverlayOff", testOverlayOff},
		{"DualStack", testDualStack},
		{"Well", testWell},
		{"OverlayOn", testOverlayOn},
		{"Typha", testTypha},
		{"VXLAN", testVXLAN},
		{"KubeProxy", testKubeProxy},
		{"Move", testMove},
		{"Hibernation", testHibernation},
		{"Delete", testDelete},
		{"Renderings", testRenderings},
		{"TakeOver", testTakeOver},
		{"DeleteTakenOver", testDeleteTakenOver},
		{"DeleteHalfMade", testDeleteHalfMade},
		{"ForceDelete", testForceDelete},
		{"Rights", testRights},
	} {
		if !t.Run(part.name, func(t *testing.T) { part.play(t, w) }) {
			break // the next would only say the same in more words
		}
	}
}
