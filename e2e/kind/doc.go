// Package kind installs our controllers from their charts in a Gardener seed that is a kind cluster, and tests an admin's operations. Its tests have
// the build tag kind, since they need Docker: make e2e-kind. All share one cluster, see environment_test.go.
package kind
