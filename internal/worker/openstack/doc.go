// Package openstack is the driver for Workers of type openstack: it describes servers in OpenStack, and creates and deletes the server
// groups that they share.
//
// The classes have the exact form that the existing machine driver reads, and the same hash as upstream's for every pool that the upstream
// extension can express: a shoot migrates in both directions without replaced nodes. Our own settings are only in classes
// and hashes of pools that use them.
//
// # Server groups
//
// Server groups in Nova have no tags, so a group's name is the mark of its owner: the beginning of the shoot's UID, and a hash
// of the pool and its policy. It is deterministic, so nothing needs to be recorded before a group is created: looking for the
// name first prevents duplicates. The upstream extension has used another form of names, with the shoot's technical ID; owner
// describes what they prove. Shoots without server groups cause no call, except one in a deletion.
//
// The package must not depend on the contract's runtime, on other contracts, or on what is done with the classes.
package openstack
