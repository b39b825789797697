// Package validation validates a Calico configuration without reading anything else. Every error names the field and
// what to do about it. The functions are pure, and expect configurations as users wrote them, before defaults.
//
// ValidateNetworkConfig rejects what can never be deployed, and Change rejects impossible updates; admission and the controller share
// them. ValidateNewNetworkConfig is for admission alone: it rejects values that would be overridden or are not sensible; existing shoots
// keep them. ValidateShootNetwork is all of it together, for admission.
package validation
