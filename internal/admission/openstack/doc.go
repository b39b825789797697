// Package openstack judges in the garden what has to do with OpenStack: Shoots, CloudProfiles and NamespacedCloudProfiles, credentials and
// what binds them to projects. The rules are those of apis/openstack/validation, which the controllers call as well.
//
// The package must not know any cloud, contract or process, nor the configuration of any network plugin.
package openstack
