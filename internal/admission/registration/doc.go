// Package registration guards who serves which kind and type. Each combination must have exactly one primary; Gardener promises that, but its own
// check remembers only the last type of each kind that a registration lists, and so lets most second primaries through. The package judges
// ControllerRegistrations in the garden, and the operator's Extensions in the runtime cluster, of which the operator makes
// ControllerRegistrations by the same names.
//
// Two primaries that are written at the same moment may both pass: nothing in a webhook could keep them apart.
//
// The package must not know any type, cloud, contract or process.
package registration
