// Package network leads the network of a shoot through its life: the network-controller as a process with the rights that it has,
// driven by gardenlet's component library, beside real gardener-resource-managers for seed and shoot, and the shoot's own API
// server with the controllers that make pods of DaemonSets and Deployments. Kubelets, the route controller and Calico itself are
// played.
package network
