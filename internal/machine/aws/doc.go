// Package aws is the machine driver for AWS: it creates, finds and deletes the EC2 instances of machine-controller-manager's Machines.
//
// Its only state is that of the cloud and the Machine objects. An instance, its volumes and its interfaces have the machine's name and the shoot's tags from
// the create call on. The call has a token of the Machine's UID, so that a repetition returns the same instance, also if lists do not show it yet. Instances of
// the existing machine driver are found by the same tags and adopted.
//
// All machines that are looked for or waited for share one list of instances.
//
// The package must not depend on controller-runtime, on Gardener's extension contracts, or on its caller.
package aws
