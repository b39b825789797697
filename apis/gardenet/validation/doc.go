// Package validation validates a configuration of gardenet without reading anything else. Every error names the field and what to do about it. The functions are
// pure, and expect configurations as users wrote them, before defaults.
//
// ValidateNetworkConfig rejects what can never be deployed, and Change impossible updates; admission and the controller share them. ValidateShootNetwork is all of
// it together, for admission.
package validation
