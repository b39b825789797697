// Package kind installs our controllers from their charts in a Gardener seed that is a kind cluster, and holds them to what an admin does
// with them. Its tests have the build tag kind, since they want Docker: make e2e-kind. All share one cluster, see environment_test.go.
package kind
