package csi

import (
	"slices"

	"github.com/trellis-garden/trellis/internal/controlplane/component"
)

const (
	snapshotController         = "csi-snapshot-controller"
	snapshotControllerPriority = "gardener-system-200"
	snapshotControllerUser     = 65532
)

// HasSnapshots reports whether a driver supports snapshots. Then the shoot needs the snapshot controller, which serves all drivers, and its CRDs.
func HasSnapshots(drivers []Driver) bool {
	return slices.ContainsFunc(drivers, func(driver Driver) bool { return driver.Controller.Sidecars.Snapshotter != nil })
}

// SnapshotController returns the component that binds users' snapshots to those of drivers. It only uses the shoot.
func SnapshotController() component.Component {
	return component.Component{
		Name:     snapshotController,
		Selector: map[string]string{"app": snapshotController, "role": "controller"},
		Priority: snapshotControllerPriority,
		User:     snapshotControllerUser,
		Containers: []component.Container{{
			Name:        snapshotController,
			Image:       snapshotController,
			Args:        slices.Concat(shootClientFlags(), []string{"--v=3"}),
			Requests:    requests("32Mi"),
			ShootAccess: snapshotController,
		}},
	}
}
