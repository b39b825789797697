// Package validation validates an OpenStack configuration without calling OpenStack. Every error names the field and
// what to do about it. The functions are pure, and expect configurations with their defaults applied, as the Decode
// functions of v1alpha1 return them.
//
// Admission and the controllers share the package, so that a configuration is rejected for the same reason everywhere.
package validation
