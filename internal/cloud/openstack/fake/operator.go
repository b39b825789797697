package fake

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/internal/core"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

// DoAsOperator makes a call as an administrator for a project, without HTTP, and without call log, faults and hooks. The path is the service's own, such
// as "PUT", services.Neutron, "/v2.0/routers/ID/add_router_interface". It returns the decoded body of the response.
func (c *Cloud) DoAsOperator(project, method string, service wire.Service, path string, body any) (map[string]any, error) {
	prefix, known := core.PrefixOfService(service)
	if !known {
		return nil, fmt.Errorf("no service %q", service)
	}
	caller, err := c.operator(project)
	if err != nil {
		return nil, err
	}
	var sent io.Reader = http.NoBody
	if body != nil {
		raw, err := json.Marshal(body)
		if err != nil {
			return nil, fmt.Errorf("encoding the body of %s %s: %w", method, path, err)
		}
		sent = strings.NewReader(string(raw))
	}
	target, err := url.Parse(prefix + path)
	if err != nil {
		return nil, fmt.Errorf("reading the path of %s %s: %w", method, path, err)
	}
	ctx := core.AsOperator(context.Background(), caller)
	r, err := http.NewRequestWithContext(ctx, method, "http://operator", sent)
	if err != nil {
		return nil, fmt.Errorf("building %s %s: %w", method, path, err)
	}
	r.URL = target
	rec := &recorder{header: http.Header{}}
	c.core.Mux.ServeHTTP(rec, r)
	if rec.status >= http.StatusBadRequest {
		return nil, fmt.Errorf("%s %s: %d %s", method, path, rec.status, rec.body)
	}
	var out map[string]any
	if len(rec.body) > 0 {
		if err := json.Unmarshal(rec.body, &out); err != nil {
			return nil, fmt.Errorf("decoding the answer to %s %s: %w", method, path, err)
		}
	}
	return out, nil
}

// CreateResource creates a resource in a project (given by name or ID) as another client would, and returns its ID, or its name if that is the
// identity. The collection is the last part of the service's path: "networks", "subnets", "routers", "ports", "floatingips", "security-groups",
// "security-group-rules", "subnetpools", "os-keypairs", "servers", "os-server-groups", "loadbalancers", "share-networks", "volumes". The caller is an
// administrator, so that "router:external" and similar attributes are permitted.
func (c *Cloud) CreateResource(project, collection string, attrs Attrs) (string, error) {
	at, known := createTargetFor(collection)
	if !known {
		return "", fmt.Errorf("nothing to plant is called %q", collection)
	}
	path := at.path + collection
	out, err := c.DoAsOperator(project, http.MethodPost, at.service, path, map[string]any{at.key: maps.Clone(attrs)})
	if err != nil {
		return "", err
	}
	resource, _ := out[at.key].(map[string]any)
	for _, key := range []string{"id", "name"} {
		if id, isString := resource[key].(string); isString {
			return id, nil
		}
	}
	return "", fmt.Errorf("planting into %s: the answer has no id", collection)
}

// recorder keeps a response in memory.
type recorder struct {
	header http.Header
	status int
	body   []byte
}

func (r *recorder) Header() http.Header { return r.header }

func (r *recorder) WriteHeader(status int) { r.status = status }

func (r *recorder) Write(b []byte) (int, error) {
	r.body = append(r.body, b...)
	return len(b), nil
}
