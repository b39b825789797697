// Package gardener runs Gardener as an admin runs it, with its own programs as processes: a garden of kube-apiserver, gardener-apiserver and
// gardener-controller-manager, and seeds with a gardenlet each, which installs extensions from registrations. What a landscape has besides, and
// no process here can be, is in the lists of StandIn. The network must be that of Network, see package isolation.
//
// The package must not depend on extensions or on what shoots look like. Tests of one contract use packages garden and gardenlet instead, where
// Gardener's code runs in the process of the test.
package gardener
