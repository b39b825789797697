// Package openstack fulfils Workers of type openstack: it says what servers in OpenStack are like, and keeps the server groups that they
// share.
//
// The classes have the exact form that the existing machine driver reads, and the same hash as upstream's for every pool that the upstream
// extension can express: a shoot changes hands, in both directions, without a single node being replaced. What is ours stands in
// classes and hashes of pools that use it, and of no others.
//
// # Server groups
//
// Nova knows no tags for server groups, so that a group's name is the mark of its owner: the beginning of the shoot's UID, and a hash
// of the pool and its policy. It is the same at every try, which is why nothing needs to be recorded before a group is made: whoever
// looks for the name first makes no group twice. The upstream extension has used another form of names, with the shoot's technical ID in
// it; see owner for what can be told by those. No call is made for shoots without server groups, but for one in a deletion.
//
// The package must not know the contract's runtime, other contracts, nor what happens to the classes.
package openstack
