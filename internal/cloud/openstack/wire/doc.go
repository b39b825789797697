// Package wire is what passes between a client and an OpenStack, seen from the cloud's side: which calls came, in which
// order and with which answer, and what may go wrong on their way. A Tap writes the log and makes calls fail, wait or
// lose their connection on demand.
//
// The fake cloud is one user of it and the proxy in front of a real cloud the other, so that a test reads the same log
// and injects the same faults whichever cloud it runs on.
//
//	tap.Log()                                 // every call in order; Calls has Count, Logins, MaxInFlight, String
//	tap.ResetLog()
//	tap.WaitIdle(ctx)                         // also for calls whose client is gone
//	tap.SetLatency(200 * time.Millisecond)
//	tap.Inject(wire.Fault{Skip: 6, Status: 503})                            // the seventh call from now
//	tap.Inject(wire.Fault{Match: wire.Match{Service: wire.Neutron, Method: "POST", Path: "/v2.0/routers"},
//		Status: 409, Type: "OverQuota", Message: "Quota exceeded for resources: ['router']."})
//	tap.Inject(wire.Fault{Match: wire.Match{WritesOnly: true}, Drop: wire.DropAfter})
//	tap.SetHook(func(e wire.Event) wire.HookResult { ... })                    // before and after the effect of each call
//
// The package knows how services name things and refuse, but nothing of what they do, and no client.
package wire
