// Package aws validates objects for AWS in the garden, and sets defaults of Shoots: Shoots, CloudProfiles and NamespacedCloudProfiles, credentials with their
// bindings, and WorkloadIdentities. The rules are those of apis/aws/validation, which the controllers also apply.
//
// The package must not know any cloud, contract or process. Of a network plugin it knows whether its overlay is switched off.
package aws
