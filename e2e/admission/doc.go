// Package admission tests the admission binary as a process: the real gardener-apiserver and kube-apiserver of a garden, and the API server of a
// runtime cluster, call its webhooks over TLS. gardener-controller-manager's own controllers maintain the labels and statuses that it reads. The
// tests do not use the binary's packages.
//
// Most writes are dry runs, which call webhooks as well, so that each case starts with an unchanged garden.
package admission
