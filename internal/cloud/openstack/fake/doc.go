// Package fake is a stateful OpenStack with real HTTP: Keystone, Neutron, Nova, Glance, Octavia, Manila and Cinder, for unit tests, contract suites,
// benchmarks and, as a process of its own, the demo.
//
// It checks, refuses and counts as the real services do: status codes, error bodies, policy, quotas, address management, references between
// resources. Package conformance compares it with real clouds. It forwards no packets and starts no machines.
//
// A new Cloud contains: domain Default; project garden with the member gardener (password "secret") and the application
// credential "trellis"; project admin with an administrator; region RegionOne; the external network public with the
// subnets public-a and public-b; flavors, images and three availability zones. All constants begin with Default, Admin
// or External.
//
//	cloud := fake.New()                       // options: WithCatalog, WithoutServices, WithPolicy, WithTransition, ...
//	if err := cloud.Start("127.0.0.1:0"); err != nil { ... }
//	defer cloud.Close()
//	... log in at cloud.AuthURL() as fake.DefaultUser ...
//
// Faults of the connection, and the call log, are in package wire: for example cloud.Log() and cloud.Inject(wire.Fault{...}). Faults of the
// services:
//
//	cloud.RevokeTokens()
//	cloud.SetMissingServices(wire.Octavia)
//	cloud.SetQuota("garden", "router", 3)
//	cloud.ExhaustSubnet("public-a", true)
//	cloud.SetTransition(fake.LoadBalancerDelete, fake.Transition{Polls: 3})
//
// State:
//
//	cloud.State("garden")                     // typed snapshot of a project, or of all with ""
//	cloud.Tree("garden")                      // the same, drawn
//
// Changes by other clients:
//
//	cloud.Plant("garden", "networks", fake.Attrs{"name": "shoot--foo--bar"})
//	cloud.Operate("garden", "PUT", wire.Neutron, "/v2.0/routers/"+id+"/add_router_interface", fake.Attrs{"subnet_id": s})
//
// Another process does the same by HTTP below /-/ and without a token: GET /-/state, /-/tree and /-/log, POST and DELETE /-/faults, POST /-/reset and
// others. The file admin.go lists them.
//
// The package depends neither on Kubernetes nor on Gardener, nor on the client that is tested with it.
package fake
