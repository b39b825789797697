// Package rolloutcontroller reconciles ControllerDeployments: it records the content of each as a revision, decides which installation gets which revision
// (package rollout), and writes that decision into annotations of the installations.
//
// It runs where the operator serves many seeds. The package must not connect to any seed: what was observed there is in the status of installations and
// in package state.
package rolloutcontroller
