// Package cloudcontrollers runs the programs of AWS that work in a shoot's control plane, as processes: with the command lines, files and rights that the
// controlplane-controller gives them, against the fake AWS and the API server of a shoot. The tests must not give them anything that a pod would not have,
// but the address of the fake.
package cloudcontrollers
