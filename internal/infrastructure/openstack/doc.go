// Package openstack fulfils Infrastructures of type openstack.
//
// It brings a network, one subnet (four with dual stack), a router with a gateway to a floating network, a security group
// and a key pair into being, or verifies and uses the ones that the user gave, and removes again what is the shoot's own.
//
// A pass goes through these files:
//
//   - inputs.go turns object, shoot, cloud profile and secret into a plan (plan.go): what is wanted, validated and typed.
//     immutable.go holds it against what is recorded, release.go lets a user correct what never worked, and configuration_errors.go names
//     the field when only the cloud sees that a value does not do;
//   - state.go keeps the recorded state: IDs, who owns what, and what is about to be created. statecodec.go reads and writes it under
//     the keys of the upstream extension, so that a shoot can come from there and go back; keys of our own begin with
//     "trellis.". uncertain_create.go remembers creates of which nobody knows what came, keyrecord.go the keys of the key pair;
//   - observe.go reads all that exists in one wave of parallel requests;
//   - reconcile.go is the graph of named tasks that bring everything up. Each task decides with a pure function what differs
//     between wanted and observed (network.go, subnet.go, router.go, rules.go, keypair.go, ...) and does just that;
//   - delete.go is the graph that takes everything down, remove.go its tasks. leftovers.go removes what a
//     cloud-controller-manager left behind, recognised by what it writes (ccm.go), routes.go its routes; blockers.go names
//     what is in the way;
//   - unrecorded.go and findunrecorded.go find what the upstream extension made and did not record when it was stopped before it finished the shoot;
//   - status.go says what came of it.
//
// Ownership is never guessed from a name, but for the latter, which nothing else tells. A resource is the shoot's own when its ID is recorded as such, or
// when its description is the shoot's mark (mark.go), which is part of the create request itself. Key pairs take no
// description: there the name carries part of the shoot's UID and the public key must be the shoot's.
//
// The package knows no Manager, no reconcile request and no OpenStack SDK.
package openstack
