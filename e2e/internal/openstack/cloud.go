package openstack

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/trellis-garden/trellis/e2e/internal/cloud"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/conformance"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/proxy"
)

// Cloud is an OpenStack for shoots, the fake or a real one. Shoots use it through a proxy, which logs their controllers' requests and injects
// faults. The requests of tests bypass the proxy.
type Cloud struct {
	// Proxy is nil for a cloud of Attach, which injects faults itself.
	*proxy.Proxy
	// Fake is the fake behind the proxy; nil for a real cloud and for a fake in another process.
	Fake *fake.Cloud

	backend conformance.Cloud
}

var _ cloud.Cloud = (*Cloud)(nil)

const (
	// loopback is the address for clients on this machine.
	loopback = "127.0.0.1:0"
	// administrator is an entry of the clouds.yaml that package stack writes.
	administrator = "admin"
)

// New returns a cloud in front of a running one, which Close does not stop.
func New(backend conformance.Cloud) (*Cloud, error) { return NewAt(loopback, backend) }

// NewAt is New for shoots in network namespaces of their own: the proxy listens on an address that they reach.
func NewAt(listen string, backend conformance.Cloud) (*Cloud, error) {
	var options []proxy.Option
	if backend.TLS != nil {
		options = append(options, proxy.WithTLS(backend.TLS))
	}
	recorder, err := proxy.New(backend.AuthURL, options...)
	if err != nil {
		return nil, err
	}
	if err := recorder.Start(listen); err != nil {
		return nil, err
	}
	return &Cloud{Proxy: recorder, backend: backend}, nil
}

// NewFake starts a fake and returns a cloud in front of it. Close stops both.
func NewFake(options ...fake.Option) (*Cloud, error) { return NewFakeAt(loopback, options...) }

// NewFakeAt is NewFake for shoots in network namespaces of their own, see NewAt.
func NewFakeAt(listen string, options ...fake.Option) (*Cloud, error) {
	standIn := fake.New(options...)
	if err := standIn.Start(loopback); err != nil {
		return nil, err
	}
	c, err := NewAt(listen, conformance.Cloud{
		Name: "fake", AuthURL: standIn.AuthURL(), Region: fake.DefaultRegion, ExternalNetwork: fake.ExternalNetwork,
		Operator: conformance.Login{User: fake.AdminUser, Password: fake.AdminPassword, Project: fake.AdminProject},
	})
	if err != nil {
		return nil, errors.Join(err, standIn.Close())
	}
	c.Fake = standIn
	return c, nil
}

// NewRealAt returns a cloud in front of the OpenStack whose administrator is the entry "admin" of a clouds.yaml, for shoots in network namespaces of
// their own, see NewAt. Close does not stop that OpenStack.
func NewRealAt(listen, cloudsYAML string) (*Cloud, error) {
	backend, err := conformance.FromFile(administrator, cloudsYAML)
	if err != nil {
		return nil, err
	}
	backend.Name = Type
	return NewAt(listen, backend)
}

// AuthURL is the Keystone endpoint for shoots, with its version.
func (c *Cloud) AuthURL() string {
	if c.Proxy == nil {
		return c.backend.AuthURL
	}
	return c.Proxy.AuthURL()
}

// Name is for messages.
func (c *Cloud) Name() string { return c.backend.Name }

// Region is the shoots' region.
func (c *Cloud) Region() string { return c.backend.Region }

// ExternalNetwork is the name of the external network of the shoots' routers.
func (c *Cloud) ExternalNetwork() string { return c.backend.ExternalNetwork }

// ControllerArgs implements cloud.Cloud: cloud profiles name the cloud.
func (c *Cloud) ControllerArgs() []string { return nil }

// Close stops what was started.
func (c *Cloud) Close() error {
	var err error
	if c.Proxy != nil {
		err = c.Proxy.Close()
	}
	if c.Fake != nil {
		err = errors.Join(err, c.Fake.Close())
	}
	return err
}

// Account is a member of a project of its own. Its methods bypass the proxy: as the member, or as an operator of the cloud.
type Account struct {
	*conformance.Tenant
	// Cloud is the account's cloud.
	Cloud *Cloud
}

var _ cloud.MachineAccount = (*Account)(nil)

// OpenAccount is NewAccount for callers that know no provider.
func (c *Cloud) OpenAccount(ctx context.Context, name string) (cloud.Account, error) {
	return c.NewAccount(ctx, name)
}

// NewAccount creates an account. The name must be unused in the cloud.
func (c *Cloud) NewAccount(ctx context.Context, name string) (*Account, error) {
	tenant, err := conformance.NewTenant(ctx, c.backend, name)
	if err != nil {
		return nil, err
	}
	return &Account{Tenant: tenant, Cloud: c}, nil
}

// Credentials is the data of the user's Secret in the garden.
func (a *Account) Credentials() map[string][]byte {
	return map[string][]byte{
		"domainName": []byte(fake.DefaultDomain),
		"tenantName": []byte(a.Project),
		"username":   []byte(a.User),
		"password":   []byte(a.Password),
	}
}

// ApplicationCredential creates one, and returns the data of a Secret that contains it, and its ID.
func (a *Account) ApplicationCredential(ctx context.Context, name string) (secret map[string][]byte, id string, err error) {
	const word = "application-credential-secret"
	answer, err := a.DoAsMember(ctx, "POST", conformance.Identity, "/v3/users/"+a.UserID+"/application_credentials", conformance.Body{
		"application_credential": conformance.Body{"name": name, "secret": word},
	})
	if err != nil {
		return nil, "", fmt.Errorf("making an application credential: %w", err)
	}
	id = answer.Text("application_credential.id")
	return map[string][]byte{"applicationCredentialID": []byte(id), "applicationCredentialSecret": []byte(word)}, id, nil
}

// Resource is a resource in an account.
type Resource struct {
	Kind, ID, Name string
	conformance.Object
}

// Resources lists all resources of the account.
func (a *Account) Resources(ctx context.Context) ([]Resource, error) {
	items, err := a.Inventory(ctx)
	if err != nil {
		return nil, fmt.Errorf("looking what project %q has: %w", a.Project, err)
	}
	resources := make([]Resource, 0, len(items))
	for _, item := range items {
		resources = append(resources, Resource{Kind: item.Kind, ID: item.ID, Name: cmp.Or(item.Object.Text("name"), item.ID), Object: item.Object})
	}
	return resources, nil
}

// CountByKind counts the resources of the account.
func (a *Account) CountByKind(ctx context.Context) (map[string]int, error) {
	resources, err := a.Resources(ctx)
	kinds := map[string]int{}
	for _, resource := range resources {
		kinds[resource.Kind]++
	}
	return kinds, err
}

// ResourceNames names all resources of the account, each by its kind, ID and changeable fields, sorted.
func (a *Account) ResourceNames(ctx context.Context) ([]string, error) {
	resources, err := a.Resources(ctx)
	if err != nil {
		return nil, err
	}
	names := make([]string, 0, len(resources))
	for _, resource := range resources {
		names = append(names, fmt.Sprintf("%s %s %s", resource.Kind, resource.ID, resource.Name))
	}
	slices.Sort(names)
	return names, nil
}
