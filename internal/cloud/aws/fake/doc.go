// Package fake is a stateful AWS account in one region with real HTTP: EC2's networks and instances, IAM's roles and instance profiles, STS, Elastic Load
// Balancing, and Elastic File System, for unit tests and contract suites.
//
// Requests are decoded, and responses encoded, by AWS' own service models (package model), of which the fake contains the operations in use. A request
// that does not fit the model is refused as AWS does it; an operation or a parameter that is in the model and not in the fake is answered 501, so that
// nothing is ignored silently. Signatures are verified. It forwards no packets, runs no programs in instances and evaluates no policies.
//
// A new Cloud is an empty account: it has the access key of DefaultKey, no VPC (also no default VPC), and the quotas of a new account. All services are at
// one address. The version in a request or in its path tells which is called.
//
//	cloud, err := fake.New()                  // options: WithModels, WithRegion, WithZones, WithLatency, WithTransition, WithLag, WithQuota
//	if err := cloud.Start("127.0.0.1:0"); err != nil { ... }
//	defer cloud.Close()
//	... configure the client with cloud.URL(), fake.DefaultRegion and fake.DefaultKey() ...
//
// The call log, latency and faults of connections are in package wire; the path of a call is its action:
//
//	cloud.Log().Count()                       // "ec2 POST CreateVpc": 1
//	cloud.Inject(wire.Fault{Match: wire.Match{Service: fake.EC2, Path: "CreateSubnet"}, Skip: 2, Status: 400, Type: "InternalError"})
//	cloud.Inject(wire.Fault{Match: wire.Match{Path: "CreateVpc"}, Drop: wire.DropAfter})   // the response is lost
//	cloud.Inject(fake.Throttled(fake.EC2, "Describe*"))
//
// Faults of the services:
//
//	cloud.SetTransition(fake.NATGatewayCreate, fake.Transition{Reads: 2})
//	cloud.SetLag(fake.Lag{Reads: 1, TagReads: 2})                      // eventual consistency
//	cloud.SetQuota(fake.QuotaAddresses, 1)
//	cloud.SetTransition(fake.MountTargetDelete, fake.Transition{After: time.Second})
//	cloud.SetDenied("ec2:CreateVpc")                                   // by policy
//	cloud.ExpireSessions()
//
// Changes by others, and what is there:
//
//	cloud.Do(fake.EC2, "CreateTags", url.Values{...})                  // any action, without HTTP and call log
//	cloud.AddLoadBalancer(fake.LoadBalancer{Type: fake.Classic, Name: "a1", Subnets: ..., Groups: ..., Tags: ...})
//	cloud.AddNetworkInterface(subnetID, "interface", "ELB app/...", groupID)
//	cloud.AddImage("linux", "/dev/xvda")
//	cloud.InterruptInstance(id)                                        // as a spot instance
//	cloud.AddIPAMPool(netip.MustParsePrefix("2001:db8::/40"))          // of IPv6 blocks
//	cloud.Dependants(vpcID)                                            // what prevents the deletion
//	cloud.Resources()                                                  // everything that somebody created
//
// The package depends neither on Kubernetes nor on Gardener, nor on the client that is tested with it, nor on AWS' SDK.
package fake
