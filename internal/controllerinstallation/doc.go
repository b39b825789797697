// Package controllerinstallation is the operator of ControllerInstallations whose ControllerDeployment has the type "trellis"
// (gardener/docs/extensions/registration.md, "Deployed by a (Non-Human) Kubernetes Operator").
//
// Two reconcilers share the work. The one of rollouts knows ControllerDeployments: it records what they say as revisions, decides which
// installation gets which revision, and writes that decision at the installations. It runs where the operator serves many seeds. The one of
// installations knows seeds: it brings into each what was decided, looks how that is, and says so. An operator that runs in a seed has only this
// one, and follows what the ControllerDeployment says now.
//
// Who writes what: of an installation's status the operator writes the condition Valid and the providerStatus. Installed, Healthy and Progressing
// are gardenlet's, which computes them from the ManagedResource that the operator makes; the operator writes them only where no gardenlet does.
// Everything it needs to know after a crash is in API objects.
//
// The package must not know any cloud, nor any contract that an installation serves.
package controllerinstallation
