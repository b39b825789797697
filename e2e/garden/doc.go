// Package garden holds what Trellis registers against Gardener: the real gardener-apiserver takes the registrations,
// gardener-controller-manager's controllers decide who is installed where, gardenlet's controllers render the charts, and the real
// gardener-resource-manager applies them to a seed. Pods are played, so that no controller of ours runs.
package garden
