// Package upstream stands in for the extensions that Trellis takes shoots over from, gardener-extension-provider-openstack and
// gardener-extension-networking-calico: their registrations, values and webhooks in a landscape, and what they leave of a shoot that they
// have brought into being. It must not know how anybody takes over.
//
// Names, values, arguments, finalizers, states and the names and shapes of objects are theirs. Nobody of theirs runs: their Deployments are of
// a program that does nothing, and objects of shoots are as fulfilled as they say on paper. Machines are real: machine-controller-manager has them made,
// with a machine controller that the stand-in of the webhooks puts beside it.
package upstream
