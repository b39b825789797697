// Package example describes a shoot's control plane on the example cloud, which tests and docs use and no released binary has: the cloud-controller-manager,
// one storage driver, a storage class, and the changes to Gardener's own components. It is small, and what a new driver can begin with: see
// docs/development/add-a-provider.md.
//
// It only returns data. It never calls the cloud, and must not depend on how objects are applied.
package example
