// Package validation holds what can be said about a Calico configuration without asking anybody. Every error names the
// field and what to do about it. The functions are pure, and expect configurations as users wrote them, before defaults.
//
// ValidateNetworkConfig refuses what can never be deployed, and Change what cannot become of what is; admission and the controller share
// them. ValidateNewNetworkConfig is for admission alone: it refuses what would not come out as it is written, or should never have been
// written; shoots that have it already live on. ValidateShootNetwork is all of it together, as admission asks.
package validation
