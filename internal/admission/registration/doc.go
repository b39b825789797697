// Package registration ensures that each kind and type has one primary. Gardener documents that rule, but its own check evaluates only the last
// type of each kind that a registration lists, and so accepts most second primaries. The package validates ControllerRegistrations in the garden,
// and gardener-operator's Extensions in the runtime cluster, from which the operator creates ControllerRegistrations of the same names.
//
// Two primaries that are written at the same time may both be accepted: a webhook cannot prevent that.
//
// The package must not know any type, cloud, contract or process.
package registration
