// Package worker is the contract of Gardener's Worker resources: the machines of a shoot.
//
// gardenlet writes a Worker with the shoot's pools. The contract creates a MachineClass and a MachineDeployment for each pool in each of
// its zones; machine-controller-manager, which gardenlet deploys, creates machines from these. A Driver describes the machines of a cloud,
// and creates the resources that they share. Everything else is the same for all clouds and is part of this package: names and hashes, the
// distribution over zones, rolling and in-place updates, waiting and its messages, hibernation, migration between seeds, deletion in the
// right order.
//
// # Hashes
//
// The name of a class contains a hash, and another hash replaces the nodes of a pool. The hash is the same as upstream's: its inputs and
// their order must never change (see hash.go). Changes that need not replace nodes are applied to the class in place.
//
// # State
//
// gardenlet owns status.state: it writes the machines of a migrated shoot there and removes them again. The contract reads it in a restore
// and never writes it. The contract's own state is in status.providerStatus; if a migration loses it, resources are found by ownership.
// machineDeployments and machineDeploymentsLastUpdateTime are written before the wait for machines, because gardenlet configures the
// cluster-autoscaler with them.
//
// The package must not depend on its drivers, on other contracts or on an SDK.
package worker
