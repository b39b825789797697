// Package aws describes a shoot's control plane on AWS: the cloud-controller-manager and its configuration, the storage drivers for EBS and EFS, the controllers for
// routes, ranges of pods and load balancers, storage classes, and the changes to Gardener's own components. It only returns data; package controlplane does
// the rest.
//
// It never calls the cloud, links no SDK, and must not depend on how objects are applied.
package aws
