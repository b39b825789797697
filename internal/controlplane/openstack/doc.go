// Package openstack describes a shoot's control plane on OpenStack: the cloud-controller-manager and its configuration, the storage drivers for Cinder and
// Manila, storage classes, and the changes to Gardener's own components. It only returns data; package controlplane does the rest.
//
// It never calls the cloud, and must not depend on how objects are applied.
package openstack
