package conformance

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/stretchr/testify/require"
)

// Service is an API by its type in the catalog.
type Service string

// The services. Paths of requests bear the version, whatever the catalog says: "/v3/…", "/v2.0/…", "/v2.1/…", "/v2/…", "/v3/{project}/…", "/v2/lbaas/…".
const (
	Identity     Service = "identity"
	Network      Service = "network"
	Compute      Service = "compute"
	Image        Service = "image"
	Volume       Service = "volumev3"
	LoadBalancer Service = "load-balancer"
)

// Caller makes requests as one user in one project.
type Caller struct {
	c         *Case
	token     string
	endpoints map[Service]string
	// ProjectID and UserID are the caller's own.
	ProjectID, UserID string
}

// Body is what a request carries.
type Body = map[string]any

// Get makes a request with the caller's token, as Post, Put, Patch and Delete do. Headers come in pairs of name and value.
func (w *Caller) Get(s Service, path string, headers ...string) *Response {
	w.c.Helper()
	return w.c.send(w, http.MethodGet, s, path, nil, headers)
}

// Post is like Get.
func (w *Caller) Post(s Service, path string, body any, headers ...string) *Response {
	w.c.Helper()
	return w.c.send(w, http.MethodPost, s, path, body, headers)
}

// Put is like Get.
func (w *Caller) Put(s Service, path string, body any, headers ...string) *Response {
	w.c.Helper()
	return w.c.send(w, http.MethodPut, s, path, body, headers)
}

// Patch is like Get.
func (w *Caller) Patch(s Service, path string, body any, headers ...string) *Response {
	w.c.Helper()
	return w.c.send(w, http.MethodPatch, s, path, body, headers)
}

// Delete is like Get.
func (w *Caller) Delete(s Service, path string, headers ...string) *Response {
	w.c.Helper()
	return w.c.send(w, http.MethodDelete, s, path, nil, headers)
}

// send makes one request and writes it down. No caller means no token.
func (c *Case) send(w *Caller, method string, s Service, path string, body any, headers []string) *Response {
	c.Helper()
	response, err := c.exchange(c.Context(), w, method, s, path, body, headers)
	require.NoErrorf(c, err, "%s %s %s", method, s, path)
	response.c = c
	c.recorder.add(response, s, path, body)
	return response
}

// cloudClient leads to a cloud.
type cloudClient struct {
	cloud  Cloud
	client *http.Client
}

func (client *cloudClient) exchange(ctx context.Context, w *Caller, method string, s Service, path string, body any, headers []string) (*Response, error) {
	base := strings.TrimSuffix(client.cloud.AuthURL, "/v3")
	if s != Identity {
		base = w.endpoints[s]
	}
	if base == "" {
		return nil, fmt.Errorf("the catalog lists no %s in region %s", s, client.cloud.Region)
	}
	request, err := newRequest(ctx, method, base+path, body)
	if err != nil {
		return nil, err
	}
	if w != nil && w.token != "" {
		request.Header.Set("X-Auth-Token", w.token)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	response, err := client.client.Do(request)
	if err != nil {
		return nil, err
	}
	raw, err := io.ReadAll(response.Body)
	if err := errors.Join(err, response.Body.Close()); err != nil {
		return nil, fmt.Errorf("reading the answer: %w", err)
	}
	return &Response{
		request: fmt.Sprintf("%s %s %s", method, s, path), Status: response.StatusCode, Header: response.Header, Raw: raw, Body: decoded(raw),
	}, nil
}

// decoded returns the object in a body, or nil if there is something else.
func decoded(raw []byte) map[string]any {
	var body map[string]any
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber() // 1 and 1.0 are not the same answer
	if decoder.Decode(&body) != nil {
		return nil
	}
	return body
}

func newRequest(ctx context.Context, method, target string, body any) (*http.Request, error) {
	content, kind := io.Reader(http.NoBody), ""
	switch b := body.(type) {
	case nil:
	case string:
		content, kind = strings.NewReader(b), "application/json"
	default:
		raw, err := json.Marshal(b)
		if err != nil {
			return nil, fmt.Errorf("encoding the request: %w", err)
		}
		content, kind = bytes.NewReader(raw), "application/json"
	}
	request, err := http.NewRequestWithContext(ctx, method, target, content)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", "application/json")
	if kind != "" {
		request.Header.Set("Content-Type", kind)
	}
	return request, nil
}

// PasswordLogin is the body of a login with a password for a project, all in the domain Default.
func PasswordLogin(login Login) Body {
	domain := Body{"name": "Default"}
	return Body{"auth": Body{
		"identity": Body{
			"methods":  []string{"password"},
			"password": Body{"user": Body{"name": login.User, "password": login.Password, "domain": domain}},
		},
		"scope": Body{"project": Body{"name": login.Project, "domain": domain}},
	}}
}

// login returns a caller. It is not written down.
func (client *cloudClient) login(ctx context.Context, login Login) (*Caller, error) {
	response, err := client.exchange(ctx, nil, http.MethodPost, Identity, "/v3/auth/tokens", PasswordLogin(login), nil)
	if err != nil {
		return nil, fmt.Errorf("logging in as %s: %w", login.User, err)
	}
	if response.Status != http.StatusCreated {
		return nil, fmt.Errorf("logging in as %s: %d %s", login.User, response.Status, response.Raw)
	}
	return callerOf(response, client.cloud.Region), nil
}

// callerOf makes a caller of what a login answered.
func callerOf(response *Response, region string) *Caller {
	token := response.object()
	return &Caller{
		token:     response.Header.Get("X-Subject-Token"),
		endpoints: endpoints(token.Objects("catalog"), region),
		ProjectID: token.Text("project.id"), UserID: token.Text("user.id"),
	}
}

// endpoints returns the public endpoint of each service in a region, without a version and without what follows one.
func endpoints(catalog []Object, region string) map[Service]string {
	found := map[Service]string{}
	for _, entry := range catalog {
		for _, endpoint := range entry.Objects("endpoints") {
			if endpoint.Text("interface") == "public" && cmp.Or(endpoint.Text("region_id"), endpoint.Text("region")) == region {
				found[serviceOfType(entry.Text("type"))] = unversioned(endpoint.Text("url"))
			}
		}
	}
	return found
}

// serviceOfType returns one type for services that catalogs list under several.
func serviceOfType(kind string) Service {
	if kind == "block-storage" {
		return Volume
	}
	return Service(kind)
}

func unversioned(endpoint string) string {
	parsed, err := url.Parse(endpoint)
	if err != nil {
		return endpoint
	}
	var kept []string
	for part := range strings.SplitSeq(strings.Trim(parsed.Path, "/"), "/") {
		if len(part) > 1 && part[0] == 'v' && strings.Trim(part[1:], "0123456789.") == "" {
			break
		}
		if part != "" {
			kept = append(kept, part)
		}
	}
	parsed.Path = strings.Join(append([]string{""}, kept...), "/")
	return strings.TrimRight(parsed.String(), "/")
}
