// Package validation validates a configuration of the example provider without calling its cloud. Every error names the field and what to do
// about it. The functions are pure.
//
// Admission and the controllers share the package, so that a configuration is rejected for the same reason everywhere.
package validation
