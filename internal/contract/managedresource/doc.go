// Package managedresource deploys objects for contracts: it writes ManagedResources, from which gardener-resource-manager creates the objects in
// the seed or in the shoot, and evaluates their statuses.
//
// The package must not depend on a contract or on the purpose of the objects.
package managedresource
