//go:build openstack

package openstack

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/trellis-garden/trellis/apis/openstack/machine/v1alpha1"
	cloudopenstack "github.com/trellis-garden/trellis/internal/cloud/openstack"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/conformance"
)

// realCloud is a project in a real cloud with the resources of an Infrastructure. A project that is not empty at the end fails the test.
type realCloud struct {
	*testing.T
	*conformance.Tenant
	target        conformance.Cloud
	network, pods string
	spec          v1alpha1.MachineProviderConfigSpec
}

func startRealCloud(t *testing.T) *realCloud {
	t.Helper()
	target, err := conformance.FromFile(cmp.Or(os.Getenv("OS_CLOUD"), "admin"))
	require.NoError(t, err, "make openstack-up starts a cloud")
	tenant, err := conformance.NewTenant(t.Context(), target, "machines-"+rand.Text()[:8])
	require.NoError(t, err)
	r := &realCloud{T: t, Tenant: tenant, target: target, pods: "100.64.0.0/13"}
	t.Cleanup(func() { assert.NoError(t, r.Remove(context.WithoutCancel(t.Context()))) })
	r.network = r.create(conformance.Network, "/v2.0/networks", "network", conformance.Body{"name": technicalID})
	subnet := r.create(conformance.Network, "/v2.0/subnets", "subnet", conformance.Body{"network_id": r.network, "ip_version": 4, "cidr": "10.250.0.0/24"})
	r.create(conformance.Network, "/v2.0/security-groups", "security_group", conformance.Body{"name": technicalID})
	r.create(conformance.Compute, "/v2.1/os-keypairs", "keypair", conformance.Body{"name": technicalID, "public_key": publicKey})
	zones := r.list(conformance.Compute, "/v2.1/os-availability-zone", "availabilityZoneInfo")
	require.NotEmpty(t, zones)
	r.spec = v1alpha1.MachineProviderConfigSpec{
		ImageName: "tiny", Region: target.Region, AvailabilityZone: zones[0].Text("zoneName"), FlavorName: "m1.tiny", KeyName: technicalID, SecurityGroups: []string{technicalID},
		Tags: map[string]string{clusterTag: "1", roleTag: "1"}, NetworkID: r.network, SubnetIDs: []string{subnet}, PodNetworkCIDRs: []string{r.pods},
	}
	return r
}

// create creates a resource, which is deleted at the end, and returns its ID.
func (r *realCloud) create(s conformance.Service, path, kind string, attributes conformance.Body) string {
	r.Helper()
	created, err := r.DoAsMember(r.Context(), http.MethodPost, s, path, conformance.Body{kind: attributes})
	require.NoError(r, err)
	id := created.Text(kind + ".id")
	if kind == "keypair" {
		id = created.Text(kind + ".name")
	}
	r.Cleanup(func() {
		_, err := r.DoAsMember(context.WithoutCancel(r.Context()), http.MethodDelete, s, path+"/"+id, nil)
		assert.NoError(r, err)
	})
	return id
}

// list lists resources of the project.
func (r *realCloud) list(s conformance.Service, path, key string) []conformance.Object {
	r.Helper()
	all, err := r.DoAsMember(r.Context(), http.MethodGet, s, path, nil)
	require.NoError(r, err)
	return all.Objects(key)
}

func (r *realCloud) newMachines(n int) []*testMachine {
	var machines []*testMachine
	for i := range n {
		machines = append(machines, newTestMachine(fmt.Sprintf("%s-cpu-z1-5d9f8-%05d", technicalID, i), r.spec, map[string]string{
			"authURL": r.target.AuthURL, "domainName": "Default", "tenantName": r.Project, "username": r.User, "password": r.Password,
		}))
	}
	return machines
}

// all does the same with all machines at a time, in a new process.
func (r *realCloud) all(machines []*testMachine, do func(*testMachine, *Driver) error) time.Duration {
	r.Helper()
	d, err := New(Options{Sessions: cloudopenstack.NewSessions(cloudopenstack.Options{Burst: SessionBurst}), Log: logr.Discard()})
	require.NoError(r, err)
	started := time.Now()
	var group errgroup.Group
	for _, machine := range machines {
		group.Go(func() error { return do(machine, d) })
	}
	require.NoError(r, group.Wait())
	return time.Since(started)
}

// TestRealCloud creates a wave of machines in a real cloud, adopts them in a second process, and deletes them in a third.
func TestRealCloud(t *testing.T) {
	const machines = 10
	r := startRealCloud(t)
	wave := r.newMachines(machines)
	t.Logf("created in %s", r.all(wave, func(o *testMachine, d *Driver) error { return o.create(t.Context(), d) }))
	servers := r.list(conformance.Compute, "/v2.1/servers/detail", "servers")
	require.Len(t, servers, machines)
	for _, server := range servers {
		assert.Equal(t, "ACTIVE", server.Text("status"))
	}
	ports := r.list(conformance.Network, "/v2.0/ports?network_id="+r.network, "ports")
	require.Len(t, ports, machines)
	for _, port := range ports {
		assert.NotEmpty(t, port.Text("device_id"))
		assert.Contains(t, port.Text("description"), technicalID)
		require.Len(t, port.Objects("allowed_address_pairs"), 1)
		assert.Equal(t, r.pods, port.Objects("allowed_address_pairs")[0].Text("ip_address"))
	}

	for _, machine := range wave {
		machine.machine.Spec.ProviderID = ""
	}
	t.Logf("adopted in %s", r.all(wave, func(o *testMachine, d *Driver) error { return o.create(t.Context(), d) }))
	assert.Len(t, r.list(conformance.Compute, "/v2.1/servers", "servers"), machines)
	t.Logf("deleted in %s", r.all(wave, func(o *testMachine, d *Driver) error { return o.delete(t.Context(), d) }))
	assert.Empty(t, r.list(conformance.Compute, "/v2.1/servers", "servers"))
	assert.Empty(t, r.list(conformance.Network, "/v2.0/ports?network_id="+r.network, "ports"))
}
