// Package wire observes the calls between a client and a cloud on the cloud's side, and injects faults into them. A Tap logs calls and makes them
// fail, wait or lose their connection.
//
// Fakes of clouds use it, and proxies in front of real clouds, so that tests read the same log and inject the same faults for any cloud.
//
//	tap.Log()                                 // every call in order; Calls has Count, Logins, MaxInFlight, String
//	tap.ResetLog()
//	tap.WaitIdle(ctx)                         // also for calls whose client is gone
//	tap.SetLatency(200 * time.Millisecond)
//	tap.Inject(wire.Fault{Skip: 6, Status: 503})                            // the seventh call from now
//	tap.Inject(wire.Fault{Match: wire.Match{Service: services.Neutron, Method: "POST", Path: "/v2.0/routers"},
//		Status: 409, Type: "OverQuota", Message: "Quota exceeded for resources: ['router']."})
//	tap.Inject(wire.Fault{Match: wire.Match{WritesOnly: true}, Drop: wire.DropAfter})
//	tap.SetHook(func(e wire.Event) wire.HookResult { ... })                    // before and after the effect of each call
//
// The package must not depend on a cloud or a client. The caller names calls, and formats injected errors as its service does.
package wire
