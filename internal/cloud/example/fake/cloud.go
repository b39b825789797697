package fake

import (
	"fmt"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"
)

// Key is the key of the only account.
const Key = "example-key"

// The kinds of resources, which are also the names of collections in the API.
const (
	Networks = "networks"
	Subnets  = "subnets"
	Groups   = "groups"
	Servers  = "servers"
)

// Resource is a resource of any kind. Fields that its kind does not have are empty.
type Resource struct {
	Kind        string `json:"-"`
	ID          string `json:"id"`
	Name        string `json:"name"`
	Owner       string `json:"owner"`
	CIDR        string `json:"cidr,omitempty"`    // of subnets
	Network     string `json:"network,omitempty"` // ID, of subnets and servers
	Group       string `json:"group,omitempty"`   // ID, of servers, as all below
	Zone        string `json:"zone,omitempty"`
	MachineType string `json:"machineType,omitempty"`
	Image       string `json:"image,omitempty"`
	Feature     bool   `json:"feature,omitempty"`
	UserData    []byte `json:"userData,omitempty"` // only in requests
}

// Cloud is a fake of the example cloud. It is safe for concurrent use.
type Cloud struct {
	listener net.Listener
	server   *http.Server

	mutex     sync.Mutex
	serial    int
	resources []Resource // in the order of their creation
}

// Start returns a cloud on a free port of loopback. It holds the given resources, which have IDs.
func Start(preloaded ...Resource) (*Cloud, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listening: %w", err)
	}
	c := &Cloud{listener: listener, resources: slices.Clone(preloaded)}
	c.server = &http.Server{Handler: c.handler(), ReadHeaderTimeout: time.Minute}
	go func() { _ = c.server.Serve(listener) }() // it ends with Close
	return c, nil
}

// URL is the address of the API.
func (c *Cloud) URL() string { return "http://" + c.listener.Addr().String() }

// Close stops serving and closes all connections.
func (c *Cloud) Close() error { return c.server.Close() }

// Resources lists all resources of all owners in the order of their creation.
func (c *Cloud) Resources() []Resource {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return slices.Clone(c.resources)
}

// find returns the first resource that satisfies a condition, nil if there is none. The caller holds the lock.
func (c *Cloud) find(condition func(Resource) bool) *Resource {
	if i := slices.IndexFunc(c.resources, condition); i >= 0 {
		return &c.resources[i]
	}
	return nil
}

// get returns a resource by its ID, nil if there is none. The caller holds the lock.
func (c *Cloud) get(kind, id string) *Resource {
	return c.find(func(r Resource) bool { return r.Kind == kind && r.ID == id })
}
