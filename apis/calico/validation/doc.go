// Package validation holds what can be said about a Calico configuration without asking anybody. Every error names the
// field and what to do about it. The functions are pure, and expect configurations as users wrote them, before defaults.
//
// There are two levels. ValidateNetworkConfig refuses what can never be deployed; admission and the controller share it.
// The functions with New, Changed and Update in their names are for admission alone. They refuse what would not come out
// as it is written, or should never have been written; shoots that have it already live on.
package validation
