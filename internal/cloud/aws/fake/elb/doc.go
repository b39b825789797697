// Package elb is the part of Elastic Load Balancing, of both APIs, that a cleanup needs: load balancers and target groups can be described and deleted,
// and the operator of the fake creates them. It must not know HTTP, signatures or encodings; see package core.
package elb
