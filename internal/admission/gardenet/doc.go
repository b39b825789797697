// Package gardenet validates the gardenet configuration of Shoots in the garden, and writes the defaults into them on which others depend. The rules are those of
// apis/gardenet/validation, which the Network controller's driver also applies.
//
// The package must not know any cloud, contract or process, nor read other objects: apis/networking knows to which pods clouds can route.
package gardenet
