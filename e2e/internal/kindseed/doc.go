// Package kindseed makes a Gardener seed of a kind cluster, and lets our controllers be installed in it and lead shoots: a World. Pods run
// there, NetworkPolicies hold, webhooks are called through Services. It must not know what controllers do, nor any test.
//
// # What is real
//
// In the cluster, as pods: gardener-resource-manager as gardenlet deploys it, with its webhooks and controllers; our controllers, from
// their charts, by a real gardener-apiserver, gardener-controller-manager's controllers of registrations and gardenlet's of installations
// (package garden); machine-controller-manager as gardenlet deploys it, with our machine controller; openstack-cloud-controller-manager;
// and the OpenStack stand-in, on the network of its node, so that one address leads to it from pods and from this machine. Its state is
// in memory: it never starts again, since nobody could go on in an empty cloud. gardenlet's controller of NetworkPolicies runs in this
// process.
//
// # What is not
//
//   - A shoot's API server is a process of this machine, with kube-controller-manager and a gardener-resource-manager for its
//     cluster. Its Deployment in the seed runs a stand-in that hands connections on, behind the Service that Gardener's component makes:
//     clients find it, and need the labels for NetworkPolicies, as anywhere.
//   - Machines are servers of the stand-in; what runs on them is played (package nodes).
//   - Storage drivers and their sidecars have no image that could be built here: under their names there is an image of command standin.
//     So their pods run, with the rights, files and probes that they are given, and do nothing.
//   - What is deployed into shoots, such as Calico, meets no kubelet.
//   - gardenlet's part in the flow of a shoot is played (package gardenlet).
//   - The Seed names no network of nodes: the stand-in and this machine are in that network here, and Gardener keeps pods from it.
package kindseed
