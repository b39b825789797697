package openstack_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/cloud"
	"github.com/trellis-garden/trellis/internal/cloud/openstack"
)

func TestSession_CreateServer_Request(t *testing.T) {
	const created = `{"server": {"id": "i", "adminPass": "p", "links": []}}`
	create := func(server openstack.ServerCreate) func(context.Context, *openstack.Session) (any, error) {
		return func(ctx context.Context, s *openstack.Session) (any, error) { return s.CreateServer(ctx, server) }
	}
	for name, tc := range map[string]exchange{
		"a server with ports of its own": {
			do: create(openstack.ServerCreate{
				Name: "m", FlavorID: "f", ImageID: "o", KeyName: "k", AvailabilityZone: "z", ServerGroupID: "g", UserData: []byte("#!"),
				Metadata: map[string]string{"a": "b"}, PortIDs: []string{"p", "q"}, SecurityGroups: []string{"nodes"}, ConfigDrive: new(true),
			}),
			sends: "POST /compute/v2.1/servers",
			body: `{"server": {"name": "m", "flavorRef": "f", "imageRef": "o", "key_name": "k", "availability_zone": "z", "user_data": "IyE=",
				"metadata": {"a": "b"}, "networks": [{"port": "p"}, {"port": "q"}], "config_drive": true}, "os:scheduler_hints": {"group": "g"}}`,
			response: created, want: openstack.Server{ID: "i"},
		},
		"a server with ports of Nova's": {
			do: create(openstack.ServerCreate{
				Name: "m", FlavorID: "f", ImageID: "o", PortIDs: []string{"p"}, NetworkIDs: []string{"n"}, SecurityGroups: []string{"nodes"}, ConfigDrive: new(false),
			}),
			sends: "POST /compute/v2.1/servers",
			body: `{"server": {"name": "m", "flavorRef": "f", "imageRef": "o", "networks": [{"port": "p"}, {"uuid": "n"}],
				"security_groups": [{"name": "nodes"}], "config_drive": false}}`,
			response: created, want: openstack.Server{ID: "i"},
		},
		"a server that boots from a volume": {
			do: create(openstack.ServerCreate{
				Name: "m", FlavorID: "f", ImageID: "o", PortIDs: []string{"p"}, BootVolume: &openstack.ServerVolume{SizeGB: 20},
			}),
			sends: "POST /compute/v2.1/servers",
			body: `{"server": {"name": "m", "flavorRef": "f", "networks": [{"port": "p"}], "block_device_mapping_v2": [{"boot_index": 0,
				"source_type": "image", "destination_type": "volume", "uuid": "o", "volume_size": 20, "delete_on_termination": true}]}}`,
			response: created, want: openstack.Server{ID: "i"},
		},
		"a server that boots from a volume of a type": {
			do: create(openstack.ServerCreate{
				Name: "m", FlavorID: "f", ImageID: "o", PortIDs: []string{"p"}, BootVolume: &openstack.ServerVolume{SizeGB: 20, Type: "fast"},
				DataVolumes: []openstack.ServerVolume{{SizeGB: 5}},
			}),
			sends: "POST /compute/v2.1/servers compute 2.67",
			body: `{"server": {"name": "m", "flavorRef": "f", "networks": [{"port": "p"}], "block_device_mapping_v2": [
				{"boot_index": 0, "source_type": "image", "destination_type": "volume", "uuid": "o", "volume_size": 20, "volume_type": "fast", "delete_on_termination": true},
				{"boot_index": -1, "source_type": "blank", "destination_type": "volume", "volume_size": 5, "delete_on_termination": true}]}}`,
			response: created, want: openstack.Server{ID: "i"},
		},
		"a server with a data volume of a type beside its local disk": {
			do: create(openstack.ServerCreate{
				Name: "m", FlavorID: "f", ImageID: "o", PortIDs: []string{"p"}, DataVolumes: []openstack.ServerVolume{{SizeGB: 5, Type: "slow"}},
			}),
			sends: "POST /compute/v2.1/servers compute 2.67",
			body: `{"server": {"name": "m", "flavorRef": "f", "imageRef": "o", "networks": [{"port": "p"}], "block_device_mapping_v2": [
				{"boot_index": 0, "source_type": "image", "destination_type": "local", "uuid": "o", "delete_on_termination": true},
				{"boot_index": -1, "source_type": "blank", "destination_type": "volume", "volume_size": 5, "volume_type": "slow", "delete_on_termination": true}]}}`,
			response: created, want: openstack.Server{ID: "i"},
		},
		"a server, read": {
			do:    func(ctx context.Context, s *openstack.Session) (any, error) { return s.GetServer(ctx, "i") },
			sends: "GET /compute/v2.1/servers/i compute 2.3",
			response: `{"server": {"id": "i", "name": "m", "status": "ERROR", "hostId": "h", "OS-EXT-STS:task_state": "deleting",
				"OS-EXT-AZ:availability_zone": "z", "metadata": {"a": "b"}, "fault": {"code": 500, "message": "No valid host", "details": "..."},
				"os-extended-volumes:volumes_attached": [{"id": "v", "delete_on_termination": true}]}}`,
			want: openstack.Server{
				ID: "i", Name: "m", Status: openstack.ServerError, HostID: "h", TaskState: "deleting", AvailabilityZone: "z", Metadata: map[string]string{"a": "b"},
				Fault: &openstack.ServerFault{Code: 500, Message: "No valid host"}, Volumes: []openstack.AttachedVolume{{ID: "v", DeleteOnTermination: true}},
			},
		},
		"a server that is young": {
			do:    func(ctx context.Context, s *openstack.Session) (any, error) { return s.GetServer(ctx, "i") },
			sends: "GET /compute/v2.1/servers/i compute 2.3",
			response: `{"server": {"id": "i", "name": "m", "status": "BUILD", "hostId": "", "OS-EXT-STS:task_state": null,
				"OS-EXT-AZ:availability_zone": null, "metadata": {}, "os-extended-volumes:volumes_attached": []}}`,
			want: openstack.Server{ID: "i", Name: "m", Status: openstack.ServerBuild, Metadata: map[string]string{}, Volumes: []openstack.AttachedVolume{}},
		},
		"a server, away": {
			do:    func(ctx context.Context, s *openstack.Session) (any, error) { return nil, s.DeleteServer(ctx, "i") },
			sends: "DELETE /compute/v2.1/servers/i compute 2.3",
		},
	} {
		t.Run(name, func(t *testing.T) { checkExchange(t, tc) })
	}
}

func TestSession_ComputeRequests(t *testing.T) {
	for name, tc := range map[string]exchange{
		"a server group": {
			do: func(ctx context.Context, s *openstack.Session) (any, error) {
				return s.CreateServerGroup(ctx, "g", "soft-anti-affinity")
			},
			sends: "POST /compute/v2.1/os-server-groups compute 2.15", body: `{"server_group": {"name": "g", "policies": ["soft-anti-affinity"]}}`,
			response: `{"server_group": {"id": "1", "name": "g", "policies": ["soft-anti-affinity"], "metadata": {}, "members": []}}`,
			want:     openstack.ServerGroup{ID: "1", Name: "g", Policy: "soft-anti-affinity", Members: []string{}},
		},
		"a server group as a cloud tells it that knows none but the newer form": {
			do:       func(ctx context.Context, s *openstack.Session) (any, error) { return s.GetServerGroup(ctx, "1") },
			sends:    "GET /compute/v2.1/os-server-groups/1 compute 2.15",
			response: `{"server_group": {"id": "1", "name": "g", "policy": "anti-affinity", "rules": {"max_server_per_host": 2}, "members": ["i"]}}`,
			want:     openstack.ServerGroup{ID: "1", Name: "g", Policy: "anti-affinity", Members: []string{"i"}},
		},
		"all server groups": {
			do:       func(ctx context.Context, s *openstack.Session) (any, error) { return s.ListServerGroups(ctx) },
			sends:    "GET /compute/v2.1/os-server-groups compute 2.15",
			response: `{"server_groups": [{"id": "1", "name": "g", "policies": ["affinity"]}, {"id": "2", "name": "g", "policies": []}]}`,
			want:     []openstack.ServerGroup{{ID: "1", Name: "g", Policy: "affinity"}, {ID: "2", Name: "g"}},
		},
		"a server group, away": {
			do: func(ctx context.Context, s *openstack.Session) (any, error) {
				return nil, s.DeleteServerGroup(ctx, "1")
			},
			sends: "DELETE /compute/v2.1/os-server-groups/1 compute 2.15",
		},
		"all flavors": {
			do:       func(ctx context.Context, s *openstack.Session) (any, error) { return s.ListFlavors(ctx) },
			sends:    "GET /compute/v2.1/flavors/detail",
			response: `{"flavors": [{"id": "1", "name": "m1.small", "vcpus": 2, "ram": 4096, "disk": 0, "swap": "", "rxtx_factor": 1.0}]}`,
			want:     []openstack.Flavor{{ID: "1", Name: "m1.small", VCPUs: 2, RAM: 4096}},
		},
		"images of a name": {
			do: func(ctx context.Context, s *openstack.Session) (any, error) {
				return s.ListImages(ctx, openstack.ImageFilter{Name: "Garden Linux"})
			},
			sends:    "GET /image/v2/images?name=Garden+Linux",
			response: `{"images": [{"id": "1", "name": "garden linux"}, {"id": "2", "name": "Garden Linux", "status": "active"}], "first": "/v2/images"}`,
			want:     []openstack.Image{{ID: "2", Name: "Garden Linux", Status: openstack.ImageActive}},
		},
		"images of a name that begins like a condition": {
			do: func(ctx context.Context, s *openstack.Session) (any, error) {
				return s.ListImages(ctx, openstack.ImageFilter{Name: "in:a,b"})
			},
			sends: "GET /image/v2/images?name=eq%3Ain%3Aa%2Cb", response: `{"images": []}`, want: []openstack.Image(nil),
		},
		"volumes of a name": {
			do: func(ctx context.Context, s *openstack.Session) (any, error) {
				return s.ListVolumes(ctx, openstack.VolumeFilter{Name: "m-root"})
			},
			sends:    "GET /volume/v3/project-1/volumes/detail?name=m-root",
			response: `{"volumes": [{"id": "1", "name": "M-root"}, {"id": "2", "name": "m-root", "status": "in-use", "metadata": {"a": "b"}}, {"id": "3", "name": null}]}`,
			want:     []openstack.Volume{{ID: "2", Name: "m-root", Status: "in-use", Metadata: map[string]string{"a": "b"}}},
		},
		"a volume, away": {
			do:    func(ctx context.Context, s *openstack.Session) (any, error) { return nil, s.DeleteVolume(ctx, "v") },
			sends: "DELETE /volume/v3/project-1/volumes/v",
		},
		"a port": {
			do: func(ctx context.Context, s *openstack.Session) (any, error) {
				return s.CreatePort(ctx, openstack.PortCreate{
					NetworkID: "n", Name: "m", Description: "d", SubnetIDs: []string{"s4", "s6"},
					AllowedAddresses: []string{"10.96.0.0/11", "fd00::/56"}, SecurityGroupIDs: []string{"g"},
				})
			},
			sends: "POST /network/v2.0/ports",
			body: `{"port": {"network_id": "n", "name": "m", "description": "d", "fixed_ips": [{"subnet_id": "s4"}, {"subnet_id": "s6"}],
				"allowed_address_pairs": [{"ip_address": "10.96.0.0/11"}, {"ip_address": "fd00::/56"}], "security_groups": ["g"]}}`,
			response: `{"port": {"id": "p"}}`, want: openstack.Port{ID: "p"},
		},
		"a port that leaves everything to the cloud": {
			do: func(ctx context.Context, s *openstack.Session) (any, error) {
				return s.CreatePort(ctx, openstack.PortCreate{NetworkID: "n"})
			},
			sends: "POST /network/v2.0/ports", body: `{"port": {"network_id": "n"}}`, response: `{"port": {"id": "p"}}`, want: openstack.Port{ID: "p"},
		},
		"a port that no security group guards": {
			do: func(ctx context.Context, s *openstack.Session) (any, error) {
				return s.CreatePort(ctx, openstack.PortCreate{NetworkID: "n", SecurityGroupIDs: []string{}})
			},
			sends: "POST /network/v2.0/ports", body: `{"port": {"network_id": "n", "security_groups": []}}`, response: `{"port": {"id": "p"}}`, want: openstack.Port{ID: "p"},
		},
	} {
		t.Run(name, func(t *testing.T) { checkExchange(t, tc) })
	}
}

func TestServerFilter_NameIsQuoted(t *testing.T) {
	for name, tc := range map[string]struct {
		filter openstack.ServerFilter
		want   string
	}{
		"plain":       {openstack.ServerFilter{Name: "machine-a"}, "^machine-a$"},
		"a dot":       {openstack.ServerFilter{Name: "a.b"}, `^a\.b$`},
		"a bar":       {openstack.ServerFilter{Name: "a|b"}, "^a[|]b$"},
		"the rest":    {openstack.ServerFilter{Name: `(a)[b]{c}*+?^$\`}, `^\(a\)\[b\]\{c\}\*\+\?\^\$\\$`},
		"a beginning": {openstack.ServerFilter{NamePrefix: "shoot--a.b-"}, `^shoot--a\.b-`},
		"both":        {openstack.ServerFilter{Name: "machine-a", NamePrefix: "machine-"}, "^machine-a$"},
		"metadata":    {openstack.ServerFilter{Metadata: map[string]string{"a": "b"}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var asked string
			stub := &stubCloud{endpoints: allServices(), serve: func(w http.ResponseWriter, req *http.Request) {
				asked = req.URL.Query().Get("name")
				reply(w, http.StatusOK, `{"servers": []}`)
			}}
			_, err := stub.session(t, openstack.Options{}).ListServers(t.Context(), tc.filter)
			require.NoError(t, err)
			assert.Equal(t, tc.want, asked)
		})
	}
}

func TestSession_CreateServer_WithoutNetwork(t *testing.T) {
	stub := &stubCloud{endpoints: allServices()}
	_, err := stub.session(t, openstack.Options{}).CreateServer(t.Context(), openstack.ServerCreate{Name: "m", FlavorID: "f", ImageID: "o"})
	assert.Equal(t, cloud.Unknown, cloud.KindOf(err))
	assert.Empty(t, stub.calls())
}

func TestSession_CreateServer_NotRetried(t *testing.T) {
	for name, response := range map[string]http.HandlerFunc{
		"the connection is lost":  drop,
		"a gateway times out":     status(http.StatusGatewayTimeout, ""),
		"Nova is not well":        status(http.StatusInternalServerError, novaFault("computeFault")),
		"the answer is not whole": status(http.StatusAccepted, `{"server": {}}`),
		"the answer is nonsense":  status(http.StatusAccepted, `[]`),
	} {
		t.Run(name, func(t *testing.T) {
			stub := &stubCloud{endpoints: allServices(), serve: response}
			_, err := stub.session(t, openstack.Options{}).CreateServer(t.Context(), openstack.ServerCreate{Name: "m", PortIDs: []string{"p"}})
			assert.Equal(t, cloud.Unavailable, cloud.KindOf(err))
			assert.Len(t, stub.calls(), 1)
		})
	}
}

func TestSession_CreateServer_VolumeTypeNotSupported(t *testing.T) {
	stub := &stubCloud{endpoints: allServices(), serve: status(http.StatusNotAcceptable, novaFault("computeFault"))}
	s := stub.session(t, openstack.Options{})
	_, err := s.CreateServer(t.Context(), openstack.ServerCreate{
		Name: "m", PortIDs: []string{"p"}, BootVolume: &openstack.ServerVolume{SizeGB: 1, Type: "fast"},
	})
	assert.Equal(t, cloud.Configuration, cloud.KindOf(err))
	assert.ErrorContains(t, err, "leave out the type")
	_, err = s.CreateServer(t.Context(), openstack.ServerCreate{Name: "m", PortIDs: []string{"p"}, BootVolume: &openstack.ServerVolume{SizeGB: 1}})
	assert.Equal(t, cloud.Unknown, cloud.KindOf(err), "no type was asked for")
}

func TestSession_CreateServer_BadRequest(t *testing.T) {
	stub := &stubCloud{endpoints: allServices(), serve: status(http.StatusBadRequest, novaFault("badRequest"))}
	_, err := stub.session(t, openstack.Options{}).CreateServer(t.Context(), openstack.ServerCreate{Name: "m", PortIDs: []string{"p"}})
	assert.Equal(t, cloud.Unknown, cloud.KindOf(err))
	assert.Len(t, stub.calls(), 1, "nothing to look closer at")
}

func TestSession_ListImages_SeveralPages(t *testing.T) {
	stub := &stubCloud{endpoints: allServices(), serve: func(w http.ResponseWriter, req *http.Request) {
		switch req.URL.Query().Get("marker") {
		case "":
			reply(w, http.StatusOK, `{"images": [{"id": "1"}, {"id": "2"}], "next": "/v2/images?marker=2", "first": "/v2/images"}`)
		case "2":
			reply(w, http.StatusOK, `{"images": [{"id": "3"}], "next": null, "first": "/v2/images"}`)
		}
	}}
	images, err := stub.session(t, openstack.Options{}).ListImages(t.Context(), openstack.ImageFilter{})
	require.NoError(t, err)
	assert.Equal(t, []openstack.Image{{ID: "1"}, {ID: "2"}, {ID: "3"}}, images)
}
