// Package component describes what runs for a shoot in the seed, and turns the description into Kubernetes objects: a
// Deployment with everything that Gardener wants around one. It is pure: the same description ends in the same objects.
//
// It must not know any cloud, any one component, nor how objects reach a cluster.
package component
