// Package upstream simulates the extensions from which Trellis adopts shoots, gardener-extension-provider-openstack, the machines of provider-aws, and
// gardener-extension-networking-calico: their registrations, values and webhooks in a landscape, and the objects of a shoot that they have
// created. It must not depend on the adoption.
//
// Names, values, arguments, finalizers, states and objects are upstream's. None of upstream's programs run: their Deployments have a program that
// does nothing, and objects of shoots are created with a status of success. Machines are real: machine-controller-manager creates them, with a
// machine controller that the simulated webhook adds to its pod.
package upstream
