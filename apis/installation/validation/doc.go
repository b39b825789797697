// Package validation holds what can be said about the configuration of a ControllerDeployment of type "trellis" without a look at its chart, a
// registry or a seed. Every error names the field and what to do about it. The functions are pure, and expect configurations as admins wrote
// them, before defaults.
package validation
