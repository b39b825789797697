// Package contract is the contract runtime: what Gardener requires of every extension controller, implemented once and
// generic over the extension object of a contract.
//
// A reconciliation of an object has these steps:
//
//  1. prepare: read the object and its Cluster, uncached, and decide what to do (decide.go, a pure function); accept the
//     operation (accept.go): report "Processing" where that must be visible at once, then remove the operation annotation
//     and add the finalizer in one metadata patch;
//  2. execute: call the contract's Actuator with a deadline and recover its panics. Its graph of tasks (graph.go) reports
//     progress, and its state is saved while it runs (state_recorder.go);
//  3. conclude: write the result in one status patch, and only then remove the finalizer or the annotation of a
//     restore; the finalizer of a migrated object is removed first (conclude.go).
//
// A crash between any two of these steps loses nothing: Pending has the rules by which the object is reconciled again. A reconciliation
// that changes nothing costs two writes.
//
// A second controller checks the objects periodically and writes their conditions (health.go). Both write the same status,
// and neither changes the fields of the other.
//
// The package must not know any single contract, driver or SDK.
package contract
