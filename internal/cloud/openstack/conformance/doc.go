// Package conformance holds the fake OpenStack against a real one. It is a list of behaviours, each named by a sentence:
// whatever Trellis relies on or must survive, from logins to what a load balancer leaves behind. Every behaviour runs
// unchanged against any cloud.
//
// It looks twice. A behaviour asserts what matters to us. And every request that it makes is written down with its whole
// answer, so that the answers of two clouds to the same requests can be laid side by side: whatever the fake says, a real
// cloud must have said, too, down to the value and the wording. What may differ is replaced by a word in braces (IDs,
// times, addresses that the cloud chose) and listed in one place, the file placeholders.go. A fake may leave attributes out; it may not
// invent any.
//
// The answers of a real cloud are kept in the folder testdata, one file for each area. They let the fake be checked where
// no OpenStack is at hand, and show what a real one says. `make e2e-openstack` checks and renews them.
//
// The package speaks raw HTTP, but for the one area that tries our own client, and knows neither Kubernetes nor the fake.
package conformance
