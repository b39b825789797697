// Package contract is the contract runtime: what Gardener asks of every extension controller, done once and generic over
// the one extension object that a contract is about.
//
// A pass over an object runs in this order:
//
//  1. prepare: read the object and its Cluster, uncached, and decide what the pass is (decide.go, a pure function); accept
//     the order (accept.go): announce "Processing" where that is to be seen at once, then take the operation annotation and
//     add the finalizer in one metadata patch;
//  2. execute: call the contract's Actuator with a deadline and contain its panics. Its graph of tasks (graph.go) reports
//     real progress, its state is saved while it works (state_recorder.go);
//  3. conclude: write the result in one status patch, and only then let go of the finalizer or of the annotation of a
//     restore; a migrated object is let go of first (conclude.go).
//
// A crash between any two of these steps loses nothing: Pending has the rules that bring the object back. A reconcile that
// finds nothing to do costs two writes.
//
// Beside the passes, a second controller looks at the objects from time to time and keeps their conditions (health.go). The
// two write the same status, and neither touches what is the other's.
//
// The package knows no single contract, driver or SDK.
package contract
