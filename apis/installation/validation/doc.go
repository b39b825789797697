// Package validation validates the configuration of a ControllerDeployment of type "trellis" without reading its chart, a registry or a seed.
// Every error names the field and what to do about it. The functions are pure, and expect configurations as admins wrote them, before
// defaults.
package validation
