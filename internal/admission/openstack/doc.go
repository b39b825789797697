// Package openstack validates objects for OpenStack in the garden: Shoots, CloudProfiles and NamespacedCloudProfiles, credentials and
// their bindings. The rules are those of apis/openstack/validation, which the controllers also apply.
//
// The package must not know any cloud, contract or process, nor the configuration of any network plugin.
package openstack
