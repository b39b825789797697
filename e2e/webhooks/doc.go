// Package webhooks tests the webhooks of the controlplane-controller and the worker-controller as what they are in a seed: a
// kube-apiserver calls the running binary over TLS when Gardener's own components deploy what extensions may change. Nothing here
// looks inside of the controllers.
//
// A webhook is reached by its URL (--webhook-config-mode=url): on one machine there is no Service that leads to a process. For
// the other modes the tests look at what the API server is told, and whether the certificate is for that name.
package webhooks
