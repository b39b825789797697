// Package example connects shoots with the example cloud, and builds our binaries with the example provider by the edits that
// docs/development/add-a-provider.md lists. It must not depend on a test.
package example

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/trellis-garden/trellis/e2e/internal/cloud"
	"github.com/trellis-garden/trellis/internal/cloud/example/fake"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

// Cloud is a fake of the example cloud for shoots. Controllers call it through a proxy, which logs their calls and injects faults.
type Cloud struct {
	*wire.Tap
	// url is the address for shoots, direct that of the fake.
	url, direct string
	// fake and server, the proxy, are nil for a fake in another process.
	fake   *fake.Cloud
	server *http.Server
}

var _ cloud.Cloud = (*Cloud)(nil)

// OpenFake starts a fake for clusters.Options.
func OpenFake() (cloud.Cloud, error) {
	behind, err := fake.Start()
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listening for the proxy of the example cloud: %w", err)
	}
	c := &Cloud{Tap: new(wire.Tap), url: "http://" + listener.Addr().String(), direct: behind.URL(), fake: behind}
	c.server = &http.Server{Handler: http.HandlerFunc(c.serve), ReadHeaderTimeout: time.Minute}
	go func() { _ = c.server.Serve(listener) }() // it ends with Close
	return c, nil
}

// Attach returns a cloud that is the fake of another process (command fakecloud), by its address. Shoots use it without a proxy.
func Attach(address string) *Cloud { return &Cloud{Tap: new(wire.Tap), url: address, direct: address} }

// Account returns the only account.
func (c *Cloud) Account() *Account { return &Account{cloud: c} }

// Name implements cloud.Cloud.
func (c *Cloud) Name() string { return "fake example cloud at " + c.URL() }

// URL is the address for shoots.
func (c *Cloud) URL() string { return c.url }

// OpenAccount implements cloud.Cloud. The fake has one account.
func (c *Cloud) OpenAccount(context.Context, string) (cloud.Account, error) {
	return c.Account(), nil
}

// ControllerArgs implements cloud.Cloud: cloud profiles name the cloud.
func (c *Cloud) ControllerArgs() []string { return nil }

// Close implements cloud.Cloud.
func (c *Cloud) Close() error {
	if c.fake == nil {
		return nil
	}
	if err := c.server.Close(); err != nil {
		return fmt.Errorf("stopping the proxy of the example cloud: %w", err)
	}
	return c.fake.Close()
}

// serve logs a call and forwards it to the fake.
func (c *Cloud) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client is gone
	}
	call := wire.Call{Service: "example", Method: r.Method, Path: pathOf(r.URL.Path), Query: r.URL.RawQuery}
	c.Handle(w, call, func() wire.Response { return c.forward(r, body) }, func(err *wire.Error) wire.Response {
		return wire.JSON(err.Status, map[string]string{"code": err.Type, "message": err.Message})
	})
}

// forward sends a request to the fake. It takes effect also if the client is gone.
func (c *Cloud) forward(r *http.Request, body []byte) wire.Response {
	request, err := http.NewRequestWithContext(context.WithoutCancel(r.Context()), r.Method, c.direct+r.URL.RequestURI(), bytes.NewReader(body))
	if err != nil {
		return unreachable(err)
	}
	request.Header = r.Header.Clone()
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return unreachable(err)
	}
	defer func() { _ = response.Body.Close() }()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		return unreachable(err)
	}
	return wire.Response{Status: response.StatusCode, Header: http.Header{"Content-Type": response.Header["Content-Type"]}, Body: content}
}

func unreachable(err error) wire.Response {
	return wire.JSON(http.StatusBadGateway, map[string]string{"code": "Unreachable", "message": err.Error()})
}

// pathOf normalizes a path: /networks/{id}.
func pathOf(path string) string {
	parts := strings.Split(path, "/")
	if len(parts) > 2 {
		parts[2] = "{id}"
	}
	return strings.Join(parts, "/")
}

// Resources lists all resources of an owner, bypassing the proxy; without an owner those of all.
func (c *Cloud) Resources(ctx context.Context, owner string) ([]fake.Resource, error) {
	var all []fake.Resource
	for _, kind := range []string{fake.Networks, fake.Subnets, fake.Groups, fake.Servers} {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.direct+"/"+kind+"?"+url.Values{"owner": {owner}}.Encode(), nil)
		if err != nil {
			return nil, err
		}
		request.Header.Set("Authorization", "Bearer "+fake.Key)
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return nil, fmt.Errorf("listing the %s of the example cloud: %w", kind, err)
		}
		var some []fake.Resource
		err = errors.Join(json.NewDecoder(response.Body).Decode(&some), response.Body.Close())
		if err != nil {
			return nil, fmt.Errorf("listing the %s of the example cloud: %w", kind, err)
		}
		for i := range some {
			some[i].Kind = kind
		}
		all = append(all, some...)
	}
	return all, nil
}

// Names names all resources of an owner, each by its kind, ID and name, sorted; without an owner those of all.
func (c *Cloud) Names(ctx context.Context, owner string) ([]string, error) {
	resources, err := c.Resources(ctx, owner)
	names := make([]string, 0, len(resources))
	for _, each := range resources {
		names = append(names, fmt.Sprintf("%s %s %s", each.Kind, each.ID, each.Name))
	}
	slices.Sort(names)
	return names, err
}
