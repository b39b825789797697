// Package openstack knows what a shoot's control plane needs of OpenStack: the cloud-controller-manager and its
// configuration, the storage drivers for Cinder and Manila, storage classes, and what has to be different in Gardener's own
// components. It only answers; package controlplane does the rest.
//
// It never calls the cloud, and must not know how anything reaches a cluster.
package openstack
