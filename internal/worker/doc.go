// Package worker is the contract of Gardener's Worker resources: the machines of a shoot.
//
// gardenlet writes a Worker with the shoot's pools. The contract turns each pool, in each of its zones, into a MachineClass and a
// MachineDeployment; machine-controller-manager, which gardenlet deploys, turns these into machines. A Driver says what the
// machines of one kind of cloud are like, and brings into being what they share. Everything else is the same for all clouds
// and happens here: names and hashes, the distribution over zones, rolling and in-place updates, waiting and its words, hibernation,
// moves from seed to seed, deletion in the right order.
//
// # Hashes
//
// A class carries a hash in its name, and another hash replaces the nodes of a pool. The hash is a promise to everybody who runs a shoot,
// and upstream's: its inputs and their order never change (see hash.go). What may change without replacing nodes changes the
// class in place.
//
// # State
//
// status.state belongs to gardenlet, which puts the machines of a moved shoot there and takes them away again. The contract reads it in
// a restore and never writes it. What it needs itself is in status.providerStatus, and where that is lost by a move, it is found
// again by ownership. machineDeployments and machineDeploymentsLastUpdateTime are written before the machines are waited for,
// because gardenlet deploys the cluster-autoscaler by them.
//
// The package must not know its drivers, other contracts, nor any SDK.
package worker
