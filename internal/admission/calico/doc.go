// Package calico judges in the garden what Shoots ask of Calico, and fills in the overlay of new ones. The rules are those of
// apis/calico/validation, which the Network controller's driver calls as well.
//
// The package must not know any cloud, contract or process, nor look anything up: what clouds let through is in apis/networking.
package calico
