// Package docs tests the commands on README.md, CONTRIBUTING.md and the pages in docs. Each block of commands has an entry in a table (claims_test.go)
// that says how it is tested. All commands are parsed, and compared with what the checkout has: targets and variables of the Makefile, packages,
// tests and programs. Blocks of commands have no language, or that of a shell; others are text, go, yaml or json.
package docs
