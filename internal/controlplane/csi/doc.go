// Package csi describes storage drivers of the Container Storage Interface, and renders their objects: the controller with its sidecars in the seed, the
// plugin on each node, the CSIDriver, RBAC, and what snapshots need.
//
// The sidecars are the same for all clouds; the package must not depend on a cloud.
package csi
