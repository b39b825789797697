package example

import (
	"context"
	"net/http"
	"net/url"

	"github.com/trellis-garden/trellis/internal/cloud/transport"
)

// Collection has the resources of one kind in an account.
type Collection[Resource any] struct {
	session *Session
	name    string
}

// Filter selects resources by exact values. An empty field selects all.
type Filter struct{ Name, Owner string }

// maxList bounds the response to a list, in bytes. Other responses have the default limit of transport.
const maxList = 8 << 20

// List lists resources in the order of their creation.
func (c Collection[Resource]) List(ctx context.Context, filter Filter) ([]Resource, error) {
	query := url.Values{}
	for key, value := range map[string]string{"name": filter.Name, "owner": filter.Owner} {
		if value != "" {
			query.Set(key, value)
		}
	}
	path := "/" + c.name
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	var resources []Resource
	err := c.session.do(ctx, transport.Info{Service: c.name, Limits: transport.Objects(maxList)}, http.MethodGet, path, nil, &resources)
	return resources, err
}

// Create creates a resource and returns it with its ID. After an error, the resource may exist.
func (c Collection[Resource]) Create(ctx context.Context, wanted Resource) (Resource, error) {
	var created Resource
	err := c.session.do(ctx, transport.Info{Service: c.name}, http.MethodPost, "/"+c.name, wanted, &created)
	return created, err
}

// Delete deletes a resource. The error is of the kind cloud.InUse if other resources depend on it.
func (c Collection[Resource]) Delete(ctx context.Context, id string) error {
	return c.session.do(ctx, transport.Info{Service: c.name}, http.MethodDelete, "/"+c.name+"/"+url.PathEscape(id), nil, nil)
}
