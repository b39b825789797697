// Package openstack is the driver for Infrastructures of type openstack.
//
// It creates a network, one subnet (four with dual stack), a router with a gateway to a floating network, a security group and a key pair, or verifies and
// uses those that the user gave, and deletes the shoot's own.
//
// The steps of a reconciliation are in these files:
//
//   - inputs.go decodes and validates object, shoot, cloud profile and Secret into a plan (plan.go). immutable.go compares it with the recorded state,
//     release.go permits corrections of what never succeeded, and configuration_errors.go names the field if only the cloud can tell that a value is
//     invalid;
//   - state.go is the recorded state: IDs, ownership, and intents. statecodec.go reads and writes it with the upstream extension's keys, so that a shoot
//     can move between the two; own keys have the prefix "trellis.". uncertain_create.go records creations with an unknown result, keyrecord.go the keys
//     of the key pair;
//   - full_check.go decides whether a repetition needs to read more than the router;
//   - observe.go reads all existing resources in one wave of parallel requests;
//   - reconcile.go is the graph of the tasks that create and update. In each a pure function computes the difference between wanted and observed
//     (network.go, subnet.go, router.go, rules.go, keypair.go, ...), which the task then applies;
//   - delete.go is the graph of the deletion, remove.go has its tasks. leftovers.go removes what a cloud-controller-manager has left, recognized by its
//     descriptions (ccm.go), routes.go its routes; blockers.go names what blocks a deletion;
//   - unrecorded.go and findunrecorded.go find resources that the upstream extension has created and not recorded because it was stopped;
//   - status.go computes the outcome.
//
// The observer of secondary controllers (observer.go) shares with the driver what makes no request (recorded_shoot.go, and the pure functions above). It
// reads an account once in an interval (observer_snapshot.go) and evaluates the snapshot for each shoot: differences from what the driver writes
// (observer_drift*.go), quotas, orphans, and what would block a deletion.
//
// Ownership is never derived from a name, except in the last case, for which there is nothing else. A resource is the shoot's own if its ID is recorded as
// such, or if its description is the shoot's mark (mark.go), which is part of the create request. Key pairs have no description: their name contains a
// part of the shoot's UID, and the public key must be the shoot's, or recorded.
//
// How many requests a reconciliation may cost is in budget_test.go and features_test.go. Which of them could not be spared, and the failure that needs each,
// is in decision 34.
//
// The package must not depend on a Manager, reconcile requests or the OpenStack SDK.
package openstack
