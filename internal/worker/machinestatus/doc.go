// Package machinestatus evaluates what the seed has of a shoot's machines: how far they have come, which of them fail and why, whether waiting can help,
// and whether machine-controller-manager is stuck.
//
// It is pure: package worker reads MachineDeployments, MachineSets and Machines, and passes them. The package must not read or write any object, and
// must not know what machines consist of.
package machinestatus
