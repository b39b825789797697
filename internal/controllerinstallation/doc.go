// Package controllerinstallation is the operator of ControllerInstallations whose ControllerDeployment has the type "trellis"
// (gardener/docs/extensions/registration.md, "Deployed by a (Non-Human) Kubernetes Operator").
//
// It composes two controllers over a store that both know (package state). Package rolloutcontroller turns ControllerDeployments into revisions and
// assigns these to installations; it runs where the operator serves many seeds. Package installationcontroller installs assigned revisions in seeds and
// reports how they are. An operator that runs in a seed has only that one, and follows what the ControllerDeployment says now.
//
// Everything that the operator needs after a crash is in API objects. The package must not know any cloud, nor any contract that an installation serves.
package controllerinstallation
