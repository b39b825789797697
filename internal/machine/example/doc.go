// Package example is the machine driver of the example cloud, which tests and docs use and no released binary has: it creates and deletes servers for
// machine-controller-manager (MCM). A machine's server is found by the name of the machine and its owner, which is the shoot's UID.
package example
