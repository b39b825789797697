// Package observer is the runtime of secondary controllers. A secondary controller observes the objects that a primary controller reconciles, compares
// them with the cloud or the seed, and reports what it finds by conditions of its own types, metrics and Events. It is generic over the extension object
// of a contract, as package contract is.
//
// A secondary controller changes nothing but status.conditions, and there only its own types. It has no finalizer, does not touch the operation annotation,
// and writes under an optimistic lock, so that no condition of another writer is lost.
//
// An observation of an object has these steps:
//
//  1. decide whether the object is observed at all (decide.go, a pure function): not while the primary works on it, and not while the shoot is hibernated,
//     failed, migrated or deleted;
//  2. observe it with a deadline, and with panics recovered (Observer.Observe);
//  3. compute the conditions (conditions.go, a pure function), and write them if anything has changed (write.go).
//
// Objects are observed after each success of the primary, and again and again. Reads of the cloud that objects of one account share go through Shared, which
// limits them to one wave in an interval.
//
// Gardener removes no condition that it does not know. Conditions of observations that are switched off are removed by the next observation, and all of them
// when the controller is uninstalled (cleanup.go).
//
// The package must not know any single contract, driver, cloud or SDK.
package observer
