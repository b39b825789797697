// Package garden tests Trellis' registrations with Gardener: the real gardener-apiserver accepts the registrations, gardener-controller-manager's
// controllers create installations, gardenlet's controllers render the charts, and the real gardener-resource-manager applies them to a seed. Pods
// are simulated, so that none of our controllers runs.
package garden
