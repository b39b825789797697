// Package e2e tests the controllers as processes, with Gardener's clients, a real API server, and a cloud over HTTP. gardenlet's own code is the
// client. The tests do not use the controllers' packages.
package e2e
