// Package calico validates the Calico configuration of Shoots in the garden, and sets the default overlay of new ones. The
// rules are those of apis/calico/validation, which the Network controller's driver also applies.
//
// The package must not know any cloud, contract or process, nor read other objects: apis/networking knows which packets clouds
// drop.
package calico
