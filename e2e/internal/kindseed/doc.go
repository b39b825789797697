// Package kindseed makes a kind cluster a Gardener seed in which our controllers can be installed and serve shoots: an Env. Pods are real,
// NetworkPolicies are enforced, and webhooks are called through Services. The package must not depend on a controller or test.
//
// # Real
//
// Pods in the cluster: gardener-resource-manager as gardenlet deploys it, with its webhooks and controllers; our controllers, installed from
// their charts by a real gardener-apiserver, gardener-controller-manager's controllers of registrations and gardenlet's controllers of
// installations (package garden); machine-controller-manager as gardenlet deploys it, with our machine controller;
// openstack-cloud-controller-manager; and the fake OpenStack, in the network of its node, so that pods and this machine reach it by one
// address. Its state is in memory, so its pod is never restarted. gardenlet's controller of NetworkPolicies runs in this process.
//
// # Simulated
//
//   - A shoot's API server is a process of this machine, with kube-controller-manager and a gardener-resource-manager for its cluster. Its
//     Deployment in the seed runs a program that forwards connections, behind the Service of Gardener's component: clients find it, and need
//     the labels for NetworkPolicies, as anywhere.
//   - Machines are servers of the fake OpenStack; their Nodes are simulated (package nodes).
//   - Storage drivers and their sidecars have no image that could be built here: their names belong to an image of command standin. So their
//     pods run, with their rights, files and probes, and do nothing.
//   - Pods in shoots, such as Calico's, are not started by a kubelet.
//   - gardenlet's flow of a shoot is simulated (package gardenlet).
//   - The Seed has no network of nodes: the fake OpenStack and this machine are in that network here, and Gardener denies it to pods.
package kindseed
