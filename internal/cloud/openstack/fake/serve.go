package fake

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/internal/core"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/wire"
)

// endpoint describes one service to the HTTP layer.
type endpoint struct {
	service wire.Service
	prefix  string // where it lives below the cloud's URL
}

// handler does one call's work. It runs below the cloud's lock and must not block.
type handler func(q *request) (reply, error)

// reply is an answer that says yes.
type reply struct {
	status int
	body   any    // encoded as JSON after the lock is released; nil means no body
	page   string // HTML in its place
	header map[string]string
}

func ok(body any) (reply, error)      { return reply{status: http.StatusOK, body: body}, nil }
func created(body any) (reply, error) { return reply{status: http.StatusCreated, body: body}, nil }
func accepted(body any) (reply, error) {
	return reply{status: http.StatusAccepted, body: body}, nil
}
func noContent() (reply, error) { return reply{status: http.StatusNoContent}, nil }

// request is what a handler sees of a call.
type request struct {
	*identity // who calls; nil for the few calls that need no token
	service   wire.Service
	http      *http.Request
	values    url.Values
	body      []byte
}

func (q *request) path(name string) string { return q.http.PathValue(name) }

// base is the URL of the cloud as the caller spells it.
func (q *request) base() string {
	if q.http.TLS != nil {
		return "https://" + q.http.Host
	}
	return "http://" + q.http.Host
}

type operatorKey struct{}

// route registers a call. The pattern is "METHOD /path" below the service's prefix.
func (c *Cloud) route(e endpoint, pattern string, h handler) { c.register(e, pattern, h, true) }

// routeWithoutToken registers a call that needs no token.
func (c *Cloud) routeWithoutToken(e endpoint, pattern string, h handler) {
	c.register(e, pattern, h, false)
}

func (c *Cloud) register(e endpoint, pattern string, h handler, needsToken bool) {
	full := e.prefix + pattern
	if method, path, hasMethod := strings.Cut(pattern, " "); hasMethod {
		full = method + " " + e.prefix + path
	}
	c.mux.HandleFunc(full, func(w http.ResponseWriter, r *http.Request) { c.serve(w, r, e, h, needsToken) })
}

// serve is one call from its arrival to its answer.
func (c *Cloud) serve(w http.ResponseWriter, r *http.Request, e endpoint, h handler, needsToken bool) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client is gone in the middle of its own request
	}
	q := &request{service: e.service, http: r, values: r.URL.Query(), body: body}
	if caller, isOperator := r.Context().Value(operatorKey{}).(*identity); isOperator {
		q.identity = caller
		c.effect(q, h, false).response(q).Write(w)
		return
	}

	path := wire.PathOf(e.service, strings.TrimPrefix(r.URL.EscapedPath(), e.prefix))
	c.Handle(w, wire.Call{Service: e.service, Method: r.Method, Path: path, Query: r.URL.RawQuery},
		func() wire.Response { return c.effect(q, h, needsToken).response(q) },
		func(err *wire.Error) wire.Response { return handlerResult{err: err}.response(q) })
}

// effect runs the handler below the lock.
func (c *Cloud) effect(q *request, h handler, needsToken bool) handlerResult {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.finishTransitions()
	if needsToken {
		caller, err := c.identify(q.http.Header.Get("X-Auth-Token"), q.service)
		if err != nil {
			return handlerResult{err: err}
		}
		q.identity = caller
		if err := checkJSON(q); err != nil {
			return handlerResult{err: err}
		}
	}
	out, err := h(q)
	if err == nil {
		return handlerResult{reply: out}
	}
	if e, isError := errors.AsType[*wire.Error](err); isError {
		return handlerResult{err: e}
	}
	return handlerResult{err: core.Fail(http.StatusInternalServerError, "", "%v", err)}
}

// handlerResult is a reply or an error.
type handlerResult struct {
	reply reply
	err   *wire.Error
}

// response puts the answer into the words of the service that was asked.
func (a handlerResult) response(q *request) wire.Response {
	var out wire.Response
	switch {
	case a.err != nil:
		out = a.err.ResponseFor(q.service)
		if a.err.Status == http.StatusUnauthorized {
			out.Header.Set("WWW-Authenticate", `Keystone uri="`+q.base()+keystonePrefix+`/v3"`)
		}
	case a.reply.page != "":
		out = wire.Response{
			Status: a.reply.status, Header: http.Header{"Content-Type": {"text/html; charset=utf-8"}}, Body: []byte(a.reply.page),
		}
	case a.reply.body != nil:
		out = wire.JSON(a.reply.status, a.reply.body)
	default:
		out = wire.Response{Status: a.reply.status, Header: http.Header{}}
	}
	for k, v := range a.reply.header {
		out.Header.Set(k, v)
	}
	out.Header.Set("X-Openstack-Request-Id", "req-"+core.NewUUID())
	return out
}

// DoAsOperator does a call as an administrator on behalf of a project, without HTTP and past the log, dials and hooks. The
// path is the service's own, such as "PUT", wire.Neutron, "/v2.0/routers/ID/add_router_interface". It returns the decoded
// body of the answer.
func (c *Cloud) DoAsOperator(project, method string, service wire.Service, path string, body any) (map[string]any, error) {
	prefix, known := prefixOfService(service)
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
	ctx := context.WithValue(context.Background(), operatorKey{}, caller)
	r, err := http.NewRequestWithContext(ctx, method, "http://operator", sent)
	if err != nil {
		return nil, fmt.Errorf("building %s %s: %w", method, path, err)
	}
	r.URL = target
	rec := &recorder{header: http.Header{}}
	c.mux.ServeHTTP(rec, r)
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

// CreateResource creates a resource in a project (given by name or ID) as if somebody else had made it, and returns its ID, or
// its name where that is the identity. The collection is the last part of the service's path: "networks", "subnets",
// "routers", "ports", "floatingips", "security-groups", "security-group-rules", "subnetpools", "os-keypairs", "servers",
// "os-server-groups", "loadbalancers", "share-networks", "volumes". An administrator does it, so that "router:external"
// and the like work too.
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

// recorder keeps an answer in memory.
type recorder struct {
	header http.Header
	status int
	body   []byte
}

func (r *recorder) Header() http.Header    { return r.header }
func (r *recorder) WriteHeader(status int) { r.status = status }
func (r *recorder) Write(b []byte) (int, error) {
	r.body = append(r.body, b...)
	return len(b), nil
}
