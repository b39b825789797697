// Package elb is the part of Elastic Load Balancing, of both APIs, that a cleanup and cloud-controller-managers need: classic and network load balancers are
// created, changed and deleted; application load balancers can be described and deleted, and the operator of the fake creates them. Nothing is
// forwarded. The package must not know HTTP, signatures or encodings; see package core.
package elb
