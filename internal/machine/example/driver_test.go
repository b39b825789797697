package example_test

import (
	"context"
	"net/http"
	"testing"

	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"
	"github.com/gardener/machine-controller-manager/pkg/util/provider/driver"
	"github.com/gardener/machine-controller-manager/pkg/util/provider/machinecodes/codes"
	"github.com/gardener/machine-controller-manager/pkg/util/provider/machinecodes/status"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/trellis-garden/trellis/apis/example/v1alpha1"
	cloudexample "github.com/trellis-garden/trellis/internal/cloud/example"
	"github.com/trellis-garden/trellis/internal/cloud/example/fake"
	"github.com/trellis-garden/trellis/internal/cloud/transport"
	"github.com/trellis-garden/trellis/internal/machine/example"
)

const machineName = "shoot--dev--one-pool-z1-5d9f8-x7k2p"

// environment is a cloud with a network, a machine, and its class and Secret.
type environment struct {
	*fake.Cloud
	*example.Driver
	wrap    func(http.RoundTripper) http.RoundTripper // set before a request
	machine *machinev1alpha1.Machine
	class   *machinev1alpha1.MachineClass
	secret  *corev1.Secret
}

type roundTripper func(*http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (f roundTripper) RoundTrip(request *http.Request) (*http.Response, error) { return f(request) }

func machineSpec() *v1alpha1.MachineProviderSpec {
	spec := v1alpha1.NewMachineProviderSpec()
	spec.Owner, spec.Zone, spec.Network, spec.MachineType, spec.Image, spec.Feature = "uid-1", "zone-a", "network", "small", "linux-1.0.0", true
	return spec
}

// start returns an environment whose cloud holds servers.
func start(t *testing.T, spec *v1alpha1.MachineProviderSpec, servers ...fake.Resource) *environment {
	t.Helper()
	for i := range servers {
		servers[i].Kind, servers[i].Network = fake.Servers, "network"
	}
	c, err := fake.Start(append(servers, fake.Resource{Kind: fake.Networks, ID: "network", Name: "shoot--dev--one", Owner: "uid-1"})...)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, c.Close()) })
	raw, err := v1alpha1.Encode(spec)
	require.NoError(t, err)
	env := &environment{
		Cloud:   c,
		machine: &machinev1alpha1.Machine{ObjectMeta: metav1.ObjectMeta{Name: machineName, UID: "machine"}},
		class:   &machinev1alpha1.MachineClass{ObjectMeta: metav1.ObjectMeta{Name: "class"}, Provider: v1alpha1.Provider, ProviderSpec: *raw},
		secret: &corev1.Secret{Data: map[string][]byte{
			"url": []byte(c.URL()), "key": []byte(fake.Key), "userData": []byte("#!/bin/true"),
		}},
	}
	env.Driver = example.New(cloudexample.NewSessions(cloudexample.Options{
		Retry: transport.RetryPolicy{Attempts: 1},
		Transport: func(next http.RoundTripper) http.RoundTripper {
			return roundTripper(func(request *http.Request) (*http.Response, error) {
				if env.wrap != nil {
					return env.wrap(next).RoundTrip(request)
				}
				return next.RoundTrip(request)
			})
		},
	}))
	return env
}

func (env *environment) create(ctx context.Context) (*driver.CreateMachineResponse, error) {
	return env.CreateMachine(ctx, &driver.CreateMachineRequest{Machine: env.machine, MachineClass: env.class, Secret: env.secret})
}

func (env *environment) delete(ctx context.Context) error {
	_, err := env.DeleteMachine(ctx, &driver.DeleteMachineRequest{Machine: env.machine, MachineClass: env.class, Secret: env.secret})
	return err
}

func (env *environment) status(ctx context.Context) (*driver.GetMachineStatusResponse, error) {
	return env.GetMachineStatus(ctx, &driver.GetMachineStatusRequest{Machine: env.machine, MachineClass: env.class, Secret: env.secret})
}

// serverIDs are the IDs of all servers in the cloud.
func (env *environment) serverIDs() []string {
	ids := []string{}
	for _, resource := range env.Resources() {
		if resource.Kind == fake.Servers {
			ids = append(ids, resource.ID)
		}
	}
	return ids
}

// codeOf is the code that MCM parses from the text of an error.
func codeOf(err error) codes.Code {
	decoded, _ := status.FromError(err)
	return decoded.Code()
}

func TestDriver_Lifecycle(t *testing.T) {
	env := start(t, machineSpec())
	_, err := env.status(t.Context())
	require.Equal(t, codes.NotFound, codeOf(err))

	created, err := env.create(t.Context())
	require.NoError(t, err)
	require.Equal(t, &driver.CreateMachineResponse{ProviderID: "example:///servers-1", NodeName: machineName}, created)
	require.Equal(t, fake.Resource{
		Kind: fake.Servers, ID: "servers-1", Name: machineName, Owner: "uid-1", Zone: "zone-a", Network: "network", MachineType: "small",
		Image: "linux-1.0.0", Feature: true, UserData: []byte("#!/bin/true"),
	}, env.Resources()[1])
	again, err := env.create(t.Context())
	require.NoError(t, err)
	require.Equal(t, created, again, "the server is adopted")
	found, err := env.status(t.Context())
	require.NoError(t, err)
	require.Equal(t, created.ProviderID, found.ProviderID)

	require.NoError(t, env.delete(t.Context()))
	require.NoError(t, env.delete(t.Context()), "nothing is left to delete")
	require.Empty(t, env.serverIDs())
}

// A request may take effect although its response is lost.
func TestDriver_Create_LostResponse(t *testing.T) {
	env := start(t, machineSpec())
	env.wrap = func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(request *http.Request) (*http.Response, error) {
			response, err := next.RoundTrip(request)
			if err == nil && request.Method == http.MethodPost {
				_ = response.Body.Close()
				return nil, http.ErrServerClosed
			}
			return response, err
		})
	}
	_, err := env.create(t.Context())
	require.Equal(t, codes.Unavailable, codeOf(err))
	env.wrap = nil
	created, err := env.create(t.Context())
	require.NoError(t, err)
	require.Equal(t, "example:///servers-1", created.ProviderID)
	require.Equal(t, []string{"servers-1"}, env.serverIDs())
}

func TestDriver_Delete(t *testing.T) {
	servers := func() []fake.Resource {
		return []fake.Resource{
			{ID: "a", Name: machineName, Owner: "uid-1"},
			{ID: "b", Name: machineName, Owner: "uid-1"},
			{ID: "c", Name: machineName, Owner: "somebody else"},
			{ID: "d", Name: machineName + "-2", Owner: "uid-1"},
		}
	}
	for sentence, test := range map[string]struct {
		machine machinev1alpha1.Machine
		left    []string
	}{
		"deletes all servers of a machine": {
			machinev1alpha1.Machine{ObjectMeta: metav1.ObjectMeta{Name: machineName, UID: "machine"}, Spec: machinev1alpha1.MachineSpec{ProviderID: "example:///a"}},
			[]string{"c", "d"},
		},
		"deletes one server without a Machine": {
			machinev1alpha1.Machine{ObjectMeta: metav1.ObjectMeta{Name: machineName}, Spec: machinev1alpha1.MachineSpec{ProviderID: "example:///b"}},
			[]string{"a", "c", "d"},
		},
		"keeps servers of others": {
			machinev1alpha1.Machine{ObjectMeta: metav1.ObjectMeta{Name: machineName}, Spec: machinev1alpha1.MachineSpec{ProviderID: "example:///c"}},
			[]string{"a", "b", "c", "d"},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			env := start(t, machineSpec(), servers()...)
			env.machine = &test.machine
			require.NoError(t, env.delete(t.Context()))
			assert.Equal(t, test.left, env.serverIDs())
		})
	}
}

func TestDriver_ListMachines(t *testing.T) {
	env := start(t, machineSpec(),
		fake.Resource{ID: "a", Name: machineName, Owner: "uid-1"},
		fake.Resource{ID: "b", Name: machineName, Owner: "somebody else"},
		fake.Resource{ID: "c", Name: "shoot--dev--one-gone-z1-5d9f8-x7k2p", Owner: "uid-1"},
	)
	list, err := env.ListMachines(t.Context(), &driver.ListMachinesRequest{MachineClass: env.class, Secret: env.secret})
	require.NoError(t, err)
	assert.Equal(t, map[string]string{"example:///a": machineName, "example:///c": "shoot--dev--one-gone-z1-5d9f8-x7k2p"}, list.MachineList)
}

func TestDriver_Errors(t *testing.T) {
	refuse := func(status int) func(*environment) {
		return func(env *environment) {
			env.wrap = func(http.RoundTripper) http.RoundTripper {
				return roundTripper(func(*http.Request) (*http.Response, error) {
					return &http.Response{StatusCode: status, Header: http.Header{}, Body: http.NoBody}, nil
				})
			}
		}
	}
	class := func(change func(*v1alpha1.MachineProviderSpec)) func(*environment) {
		return func(env *environment) {
			spec := machineSpec()
			change(spec)
			if raw, err := v1alpha1.Encode(spec); err == nil {
				env.class.ProviderSpec = *raw
			}
		}
	}
	for sentence, test := range map[string]struct {
		change func(*environment)
		code   codes.Code
		want   string
	}{
		"an unknown key":           {func(env *environment) { env.secret.Data["key"] = []byte("other") }, codes.Unauthenticated, "the key is unknown"},
		"no key":                   {func(env *environment) { delete(env.secret.Data, "key") }, codes.InvalidArgument, `"key" is missing`},
		"no address":               {func(env *environment) { delete(env.secret.Data, "url") }, codes.InvalidArgument, "the address of the cloud"},
		"another kind of class":    {func(env *environment) { env.class.ProviderSpec.Raw = []byte(`{}`) }, codes.InvalidArgument, "kind to MachineProviderSpec"},
		"a class without an owner": {class(func(spec *v1alpha1.MachineProviderSpec) { spec.Owner = "" }), codes.InvalidArgument, "providerSpec has no owner"},
		"a class without a zone":   {class(func(spec *v1alpha1.MachineProviderSpec) { spec.Zone = "" }), codes.InvalidArgument, "providerSpec.zone: Required value"},
		"a missing network":        {class(func(spec *v1alpha1.MachineProviderSpec) { spec.Network = "gone" }), codes.InvalidArgument, "there is no network"},
		"a missing permission":     {refuse(http.StatusForbidden), codes.PermissionDenied, "returned 403"},
		"a conflict":               {refuse(http.StatusConflict), codes.Aborted, "returned 409"},
		"too many requests":        {refuse(http.StatusTooManyRequests), codes.Unavailable, "returned 429"},
		"a failure of the cloud":   {refuse(http.StatusInternalServerError), codes.Unavailable, "returned 500"},
		"an unexpected response":   {refuse(http.StatusTeapot), codes.Unknown, "returned 418"},
	} {
		t.Run(sentence, func(t *testing.T) {
			env := start(t, machineSpec())
			test.change(env)
			_, err := env.create(t.Context())
			require.ErrorContains(t, err, "creating machine "+machineName)
			require.ErrorContains(t, err, test.want)
			assert.Equal(t, test.code, codeOf(err))
			assert.Empty(t, env.serverIDs())
		})
	}
}

func TestDriver_Close(t *testing.T) {
	env := start(t, machineSpec())
	require.NoError(t, env.Driver.Close(t.Context()))
	go func() { _, _ = env.create(context.Background()) }() // it blocks until the end of the process
	_, err := env.status(t.Context())
	require.Equal(t, codes.NotFound, codeOf(err), "reads continue")
	require.Empty(t, env.serverIDs())
}

func TestDriver_Close_Timeout(t *testing.T) {
	env := start(t, machineSpec())
	started, release := make(chan struct{}), make(chan struct{})
	env.wrap = func(http.RoundTripper) http.RoundTripper {
		return roundTripper(func(*http.Request) (*http.Response, error) {
			close(started)
			<-release
			return nil, http.ErrServerClosed
		})
	}
	ended := make(chan error)
	go func() {
		_, err := env.create(context.WithoutCancel(t.Context()))
		ended <- err
	}()
	<-started
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorContains(t, env.Driver.Close(ctx), "waiting for changes under way")
	close(release)
	require.Error(t, <-ended)
}
