// Package aws is the driver for Workers of type aws: it describes machines in EC2. Machines of AWS share no resources besides those of the Infrastructure, so
// it makes no requests, and needs no credentials.
//
// The classes have the exact form that the existing machine driver reads, and the same names as upstream's: a shoot migrates in both directions without
// replaced nodes.
//
// # Hashes
//
// The inputs of the hash are upstream's of its version 1.73, byte for byte and in its order, with all its peculiarities (see hashdata.go). One of them is the
// order of data volumes: upstream takes them in the order of the Worker, which is the user's, and then sorts them in the object for their device names. If it
// reconciles the same object once more, as in a restore, it takes them sorted. Both names are accepted in a shoot that is taken over (see plan.machines).
//
// The package must not depend on the contract's runtime, on other contracts, on the SDK of AWS, or on what is done with the classes.
package aws
