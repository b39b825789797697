// Package network takes the network of a shoot through its life: network-controller as a process with its rights in a seed, with gardenlet's component
// library as the client, real gardener-resource-managers for seed and shoot, and the shoot's own API server with the controllers that create pods
// of DaemonSets and Deployments. Kubelets, the route controller and Calico itself are simulated.
package network
