package controlplane

import "testing"

// TestControlPlane leads one shoot through its life, and through three more that begin or end in other ways. All parts share
// the API servers; each takes over what the one before has left.
func TestControlPlane(t *testing.T) {
	w := newWorld(t)
	for _, part := range []struct {
		name string
		play func(*testing.T, *world)
	}{
		{"Create", testCreate},
		{"CloudControllerManager", testCloudControllerManager},
		{"DryRun", testDryRun},
		{"Again", testAgain},
		{"NativeRouting", testNativeRouting},
		{"Manila", testManila},
		{"Versions", testVersions},
		{"Credentials", testCredentials},
		{"SameAsGardener", testSameAsGardener},
		{"Hibernation", testHibernation},
		{"Move", testMove},
		{"Delete", testDelete},
		{"TakeOver", testTakeOver},
		{"DeleteTakenOver", testDeleteTakenOver},
		{"CreateAfterCrash", testCreateAfterCrash},
		{"ForceDelete", testForceDelete},
	} {
		if !t.Run(part.name, func(t *testing.T) { part.play(t, w) }) {
			break // the next would only say the same in more words
		}
	}
}
