// Package installations holds the operator of ControllerInstallations against Gardener: the real gardener-apiserver takes what is registered,
// gardener-controller-manager's controllers request installations, gardenlet's own controllers serve those of type helm, watch over all of them and
// tell which are needed, and the real gardener-resource-manager applies what comes into a seed. The operator is a process, once beside the garden and
// once beside a seed. Pods are played.
package installations
