// Package component describes the components of a shoot in the seed, and renders them as Kubernetes objects: a Deployment with all that Gardener requires.
// It is pure: the same description is rendered as the same objects.
//
// It must not depend on a cloud, on a component, or on how objects are applied.
package component
