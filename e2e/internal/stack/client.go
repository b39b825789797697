package stack

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strings"
	"time"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake"
)

// object is a JSON object.
type object = map[string]any

// client makes requests to the cloud as one user in one project.
type client struct {
	keystone, token, userID string
}

// direct returns an HTTP client without proxy and keep-alive, since everything is on loopback.
func direct() *http.Client {
	return &http.Client{Timeout: time.Minute, Transport: &http.Transport{DisableKeepAlives: true}}
}

// login logs in at a Keystone, given by its URL with the version.
func login(ctx context.Context, keystone, user, password, project string) (*client, error) {
	domain := object{"name": fake.DefaultDomain}
	body := object{"auth": object{
		"identity": object{"methods": []string{"password"}, "password": object{
			"user": object{"name": user, "domain": domain, "password": password},
		}},
		"scope": object{"project": object{"name": project, "domain": domain}},
	}}
	var answer struct {
		Token struct {
			User struct{ ID string }
		}
	}
	c := &client{keystone: keystone}
	header, err := c.call(ctx, http.MethodPost, keystone+"/auth/tokens", body, &answer)
	if err != nil {
		return nil, fmt.Errorf("logging in as %s: %w", user, err)
	}
	c.token, c.userID = header.Get("X-Subject-Token"), answer.Token.User.ID
	return c, nil
}

// call makes a request. The body is encoded as JSON, except bytes; the response is decoded into out unless it is nil.
func (c *client) call(ctx context.Context, method, where string, body, out any) (http.Header, error) {
	kind := "application/json"
	var content []byte
	switch b := body.(type) {
	case nil:
	case []byte:
		kind, content = "application/octet-stream", b
	default:
		var err error
		if content, err = json.Marshal(b); err != nil {
			return nil, fmt.Errorf("encoding a request: %w", err)
		}
	}
	request, err := http.NewRequestWithContext(ctx, method, where, bytes.NewReader(content))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", kind)
	request.Header.Set("Accept", "application/json")
	if c.token != "" {
		request.Header.Set("X-Auth-Token", c.token)
	}
	response, err := direct().Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, fmt.Errorf("reading the answer to %s %s: %w", method, where, err)
	}
	if response.StatusCode >= http.StatusBadRequest {
		return nil, &refusal{status: response.StatusCode, text: fmt.Sprintf("%s %s: %s: %s", method, where, response.Status, strings.TrimSpace(string(answer)))}
	}
	if out != nil {
		if err := json.Unmarshal(answer, out); err != nil {
			return nil, fmt.Errorf("decoding the answer to %s %s: %w", method, where, err)
		}
	}
	return response.Header, nil
}

// refusal is a response with an error.
type refusal struct {
	status int
	text   string
}

func (r *refusal) Error() string { return r.text }

// list returns the first page of a collection.
func (c *client) list(ctx context.Context, where, key string) ([]object, error) {
	var answer map[string]json.RawMessage
	if _, err := c.call(ctx, http.MethodGet, where, nil, &answer); err != nil {
		return nil, err
	}
	var items []object
	if err := json.Unmarshal(answer[key], &items); err != nil {
		return nil, fmt.Errorf("decoding %s of GET %s: %w", key, where, err)
	}
	return items, nil
}

// collection is a path at which resources of a kind are listed and created.
type collection struct {
	url       string
	one, many string // the keys around a single thing, "" if there is none, and around a list
}

// ensure returns the resource with certain properties, and creates it if there is none.
func (c *client) ensure(ctx context.Context, in collection, properties, more object) (object, error) {
	items, err := c.list(ctx, in.url, in.many)
	if err != nil {
		return nil, err
	}
	if found := find(items, properties); found != nil {
		return found, nil
	}
	all := object{}
	maps.Copy(all, properties)
	maps.Copy(all, more)
	if in.one == "" {
		var made object
		_, err = c.call(ctx, http.MethodPost, in.url, all, &made)
		return made, err
	}
	var made map[string]object
	if _, err := c.call(ctx, http.MethodPost, in.url, object{in.one: all}, &made); err != nil {
		return nil, err
	}
	return made[in.one], nil
}

// find returns the first resource with certain properties, or nil.
func find(items []object, properties object) object {
	for _, item := range items {
		all := true
		for key, value := range properties {
			all = all && item[key] == value
		}
		if all {
			return item
		}
	}
	return nil
}

func text(o object, key string) string {
	s, _ := o[key].(string)
	return s
}
