// Package contracttest holds what tests of contracts and of their drivers have in common: a real API server with
// Gardener's CRDs, the fixtures that Gardener would have put there, an actor that asks for operations the way gardenlet
// does, gardener-resource-manager, and an exploration that lets every call of a process go wrong, one at a time.
//
// Two promises of the exploration make its results worth something:
//
//   - the process under test is a real controller-runtime manager with the real predicates, work queue, client and
//     informers, so that only what really brings an object back after a crash does so here;
//   - nothing outlives a killed process but what the API server and the cloud hold. Requests that were on their way take
//     effect, their answers are lost.
//
// The package is generic over the extension object. It knows no contract, no driver and no cloud.
package contracttest
