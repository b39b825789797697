// Package machinestatus evaluates the machines of a shoot in the seed: their progress, failures and their causes, whether waiting can
// succeed, and whether machine-controller-manager is stuck.
//
// It is pure: package worker reads MachineDeployments, MachineSets and Machines, and passes them. The package must not read or write
// objects, and must not depend on the content of machine classes.
package machinestatus
