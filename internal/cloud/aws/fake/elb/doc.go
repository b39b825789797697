// Package elb is the part of Elastic Load Balancing that a cleanup needs of both APIs, and cloud-controller-managers of the older one: classic load balancers
// are created, changed and deleted; others can be described and deleted, and the operator of the fake creates them. Nothing is forwarded. The package
// must not know HTTP, signatures or encodings; see package core.
package elb
