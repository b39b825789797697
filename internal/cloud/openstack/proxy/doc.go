// Package proxy puts a real OpenStack behind the call log and the faults of package wire, so that a test sees and disturbs its
// calls as it does those of the fake.
//
//	p, err := proxy.New("https://keystone.example.org/v3", proxy.WithTLS(trust))
//	if err := p.Start("127.0.0.1:0"); err != nil { ... }
//	defer p.Close()
//	... log in at p.AuthURL() with the credentials of the real cloud ...
//	p.Inject(wire.Fault{Match: wire.Match{Service: wire.Neutron, WritesOnly: true}, Drop: wire.DropAfter})
//
// Each service has a path of its own below the proxy's URL, the same as in the fake. Where the path leads is learned from
// the catalogs that pass in answers of Keystone; they name the proxy instead of the services then, and so do links. If a
// service has several addresses, as in a cloud of two regions, each of the others gets a path with a number, such as
// "/network-2". Services that package wire does not know keep their own addresses in the catalog: calls to them are not
// seen.
//
// A call that was let through reaches the cloud although its client goes away, as it would without a proxy.
//
// The package knows how OpenStack's services refer to each other, and nothing of what they do.
package proxy
