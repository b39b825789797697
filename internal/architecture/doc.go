// Package architecture holds no code, only tests: who may import whom, how heavy a binary may be, and which habits every
// file keeps. A test that fails here names the rule and the offender; the rules are data in import_rules_test.go.
package architecture
