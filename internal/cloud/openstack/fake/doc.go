// Package fake is a stateful OpenStack behind real HTTP. It stands in for Keystone, Neutron, Nova, Glance, Octavia,
// Manila and Cinder in unit tests, in the suites, in the benchmarks and, as a process of its own, in the demo.
//
// It is spoken to by a real client and checks, refuses and counts as the real services do: status codes, error bodies,
// policy, quotas, address management, references between resources. What it answers can be held against a real
// OpenStack. It moves no packets and boots no machines.
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
// What happened, and what goes wrong on the way to the cloud, is package wire's: the log and the dials of its Tap, such as
// cloud.Log() and cloud.Inject(wire.Fault{...}). What goes wrong within it:
//
//	cloud.RevokeTokens()
//	cloud.SetMissingServices(wire.Octavia)
//	cloud.SetQuota("garden", "router", 3)
//	cloud.ExhaustSubnet("public-a", true)
//	cloud.SetTransition(fake.LoadBalancerDelete, fake.Transition{Polls: 3})
//
// What is there:
//
//	cloud.State("garden")                     // typed snapshot of a project, or of all with ""
//	cloud.Tree("garden")                      // the same, drawn
//
// What others did:
//
//	cloud.Plant("garden", "networks", fake.Attrs{"name": "shoot--foo--bar"})
//	cloud.Operate("garden", "PUT", wire.Neutron, "/v2.0/routers/"+id+"/add_router_interface", fake.Attrs{"subnet_id": s})
//
// The same from another process, by HTTP below /-/ and without a token: GET /-/state, /-/tree and /-/log, POST and DELETE
// /-/faults, POST /-/reset and others. The file admin.go lists them.
//
// The package knows neither Kubernetes nor Gardener, nor the client that is tested against it.
package fake
