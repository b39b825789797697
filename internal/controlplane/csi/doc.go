// Package csi describes storage drivers after the Container Storage Interface, and turns a description into what makes one
// work in a shoot: the controller with its sidecars in the seed, the plugin on every node, the CSIDriver, RBAC for each
// part, and what snapshots need.
//
// The sidecars are the same for every cloud; it must not know any one cloud.
package csi
