// Package e2e tests the controllers as what they are in a landscape: processes that meet Gardener through a real API server,
// and a cloud over HTTP. The client on the other side is gardenlet's own code. Nothing here looks inside a controller.
package e2e
