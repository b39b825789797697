// Package infrastructuretest is the suite that every Infrastructure driver must pass against a fake of its cloud: through
// the contract runtime and a real API server, with nothing in between replaced.
//
// Run runs the scenarios and then explores (see package contracttest): at every call to the cloud and every write to the
// API server, during create, no-op, delete and an abandoned create, the call is refused with each kind of error, the
// connection is dropped, or the process is killed. Each case must end in Succeeded or gone without anybody's help, with
// every resource there exactly once, none left behind, and those of others as they were.
//
// A driver's tests bring a Subject: the fake cloud and how to build the driver. The suite knows no cloud.
package infrastructuretest
