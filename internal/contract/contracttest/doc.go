// Package contracttest is shared by the tests of contracts and of their drivers: a real API server with Gardener's CRDs, fixtures of the objects
// that Gardener creates, a simulated gardenlet that requests operations, a simulated gardener-resource-manager, and an exploration that injects a
// fault into every call of a process, one at a time.
//
// The results of the exploration are valid because:
//
//   - the process under test is a real controller-runtime manager with the real predicates, work queue, client and
//     informers, so that an object is reconciled after a crash only if it would be in production;
//   - only the API server and the cloud keep state after a process is killed. Its running requests take
//     effect, and their responses are lost.
//
// The package is generic over the extension object. It must not depend on a contract, a driver or a cloud.
package contracttest
