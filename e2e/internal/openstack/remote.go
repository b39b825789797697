package openstack

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/conformance"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

// attachTimeout bounds the time until the fake's first response.
const attachTimeout = time.Minute

// Remote inspects a fake in another process (command fakecloud), and injects its faults.
type Remote struct {
	url string
}

// Attach returns a cloud that is the fake of another process, by its address such as "http://172.18.0.2:5000". It waits for the first response.
// Shoots use it directly, without a proxy. Closing the cloud does not stop the process.
func Attach(ctx context.Context, address string) (*Cloud, *Remote, error) {
	remote := &Remote{url: address}
	if err := remote.wait(ctx); err != nil {
		return nil, nil, fmt.Errorf("waiting for the cloud at %s: %w", address, err)
	}
	return &Cloud{backend: conformance.Cloud{
		Name: "fake", AuthURL: address + "/identity/v3", Region: fake.DefaultRegion, ExternalNetwork: fake.ExternalNetwork,
		Operator: conformance.Login{User: fake.AdminUser, Password: fake.AdminPassword, Project: fake.AdminProject},
	}}, remote, nil
}

func (r *Remote) wait(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, attachTimeout)
	defer cancel()
	for {
		err := r.do(ctx, http.MethodGet, "healthz", nil, nil, nil)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return errors.Join(ctx.Err(), err)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// SetLatency sets the duration of all requests.
func (r *Remote) SetLatency(ctx context.Context, latency time.Duration) error {
	return r.do(ctx, http.MethodPut, "latency", url.Values{"value": {latency.String()}}, nil, nil)
}

// SetTransition sets how long transitions of resources of a kind take, see fake.SetTransition.
func (r *Remote) SetTransition(ctx context.Context, kind string, transition fake.Transition) error {
	return r.do(ctx, http.MethodPut, "transitions", url.Values{"kind": {kind}}, transition, nil)
}

// SetQuota sets an account's quota of a resource; -1 is unlimited.
func (r *Remote) SetQuota(ctx context.Context, account *Account, resource string, limit int) error {
	query := url.Values{"project": {account.Project}, "resource": {resource}, "limit": {fmt.Sprint(limit)}}
	return r.do(ctx, http.MethodPut, "quotas", query, nil, nil)
}

// Inject adds a fault, and ClearFaults removes all.
func (r *Remote) Inject(ctx context.Context, fault wire.Fault) error {
	return r.do(ctx, http.MethodPost, "faults", nil, fault, nil)
}

// ClearFaults removes all faults.
func (r *Remote) ClearFaults(ctx context.Context) error {
	return r.do(ctx, http.MethodDelete, "faults", nil, nil, nil)
}

// Calls returns all requests since the start or ResetCalls, including those of tests.
func (r *Remote) Calls(ctx context.Context) (wire.Calls, error) {
	var calls wire.Calls
	err := r.do(ctx, http.MethodGet, "log", nil, nil, &calls)
	return calls, err
}

// ResetCalls clears the log of requests.
func (r *Remote) ResetCalls(ctx context.Context) error {
	return r.do(ctx, http.MethodDelete, "log", nil, nil, nil)
}

// do makes a request to the fake's admin API. A nil body is not sent, and a nil result not read.
func (r *Remote) do(ctx context.Context, method, path string, query url.Values, body, answer any) error {
	var content io.Reader
	if body != nil {
		encoded, err := json.Marshal(body)
		if err != nil {
			return fmt.Errorf("encoding a request for %s: %w", path, err)
		}
		content = bytes.NewReader(encoded)
	}
	request, err := http.NewRequestWithContext(ctx, method, r.url+"/-/"+path+"?"+query.Encode(), content)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return fmt.Errorf("asking the cloud: %w", err)
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(response.Body)
		return fmt.Errorf("asking the cloud for %s %s: %s: %s", method, path, response.Status, bytes.TrimSpace(text))
	}
	if answer == nil {
		return nil
	}
	if err := json.NewDecoder(response.Body).Decode(answer); err != nil {
		return fmt.Errorf("reading the cloud's answer about %s: %w", path, err)
	}
	return nil
}
