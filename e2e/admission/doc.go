// Package admission tests the binary of that name as what it is in a landscape: the real gardener-apiserver and kube-apiserver of a garden,
// and the API server of a runtime cluster, ask it over TLS what they shall do with what users write. gardener-controller-manager's own
// controllers keep the labels and statuses on which it relies. Nothing here looks inside of the binary.
//
// Most of what is written is written as a dry run: admission is asked all the same, and each case finds the garden as it was.
package admission
