// Package contract is the contract runtime: what Gardener asks of every extension controller, done once and generic over
// the one extension object that a contract is about.
//
// A pass over an object runs in this order:
//
//  1. read the object and its Cluster, uncached, and decide what the pass is (decide.go: a pure function);
//  2. accept the order: one metadata patch that takes the operation annotation and adds the finalizer; "Processing" is
//     written at once for create, delete, migrate and restore, and for a reconcile only when it takes longer than a second;
//  3. call the contract's Actuator with a deadline and contain its panics; its graph of tasks reports real progress, its
//     state is saved while it works;
//  4. write the result in one status patch, and only then take the finalizer or the annotation of a migrate or restore.
//
// A crash between any two of these steps loses nothing: see Pending for the rule that brings the object back.
//
// The package knows no single contract, driver or SDK.
package contract
