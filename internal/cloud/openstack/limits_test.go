package openstack_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/trellis-garden/trellis/internal/cloud"
	"github.com/trellis-garden/trellis/internal/cloud/openstack"
)

// forbidCreation responds to a creation with 403, and to other requests by the longest matching suffix of their path.
func forbidCreation(responses map[string]string) http.HandlerFunc {
	return func(w http.ResponseWriter, req *http.Request) {
		if req.Method == http.MethodPost {
			reply(w, http.StatusForbidden, novaFault("forbidden"))
			return
		}
		for end, response := range responses {
			if strings.HasSuffix(req.URL.Path, end) {
				reply(w, http.StatusOK, response)
				return
			}
		}
		reply(w, http.StatusForbidden, `{}`)
	}
}

func limitsResponse(absolute string) string {
	return `{"limits": {"rate": [], "absolute": {` + absolute + `}}}`
}

func TestSession_CreateServer_Forbidden(t *testing.T) {
	const freeQuota = `"maxTotalInstances": 10, "totalInstancesUsed": 1, "maxTotalCores": 20, "totalCoresUsed": 2, "maxTotalRAMSize": 8192, "totalRAMUsed": 1024, ` +
		`"maxServerGroupMembers": 3`
	flavor := `{"flavor": {"id": "f", "name": "m1", "vcpus": 4, "ram": 4096}}`
	group := `{"server_group": {"id": "g", "policies": ["anti-affinity"], "members": ["1", "2", "3"]}}`
	ports := `{"ports": [{"id": "1", "project_id": "project-1"}, {"id": "2", "project_id": "project-1"}, {"id": "3", "project_id": "other"}]}`
	on := func(more openstack.ServerCreate) openstack.ServerCreate {
		more.Name, more.FlavorID, more.PortIDs = "m", "f", []string{"p"}
		return more
	}
	for name, tc := range map[string]struct {
		server   openstack.ServerCreate
		answers  map[string]string
		want     cloud.Kind
		wantText string
	}{
		"no instance is left": {
			answers: map[string]string{"/limits": limitsResponse(`"maxTotalInstances": 1, "totalInstancesUsed": 1`), "/flavors/f": flavor},
			want:    cloud.QuotaExceeded, wantText: "instances (1 of 1, 1 more needed)",
		},
		"not enough cores are left": {
			answers: map[string]string{"/limits": limitsResponse(`"maxTotalCores": 9, "totalCoresUsed": 6`), "/flavors/f": flavor},
			want:    cloud.QuotaExceeded, wantText: "cores (6 of 9, 4 more needed)",
		},
		"neither enough cores nor enough RAM": {
			answers: map[string]string{
				"/limits": limitsResponse(`"maxTotalCores": 3, "totalCoresUsed": 0, "maxTotalRAMSize": 4097, "totalRAMUsed": 2`), "/flavors/f": flavor,
			},
			want: cloud.QuotaExceeded, wantText: "cores (0 of 3, 4 more needed), MiB of RAM (2 of 4097, 4096 more needed)",
		},
		"just enough is left":    {answers: map[string]string{"/limits": limitsResponse(`"maxTotalCores": 4, "totalCoresUsed": 0`), "/flavors/f": flavor}, want: cloud.Unauthorized},
		"there is room":          {answers: map[string]string{"/limits": limitsResponse(freeQuota), "/flavors/f": flavor}, want: cloud.Unauthorized},
		"nothing has a limit":    {answers: map[string]string{"/limits": limitsResponse(`"maxTotalInstances": -1, "totalInstancesUsed": 9`), "/flavors/f": flavor}, want: cloud.Unauthorized},
		"no limit is told":       {answers: map[string]string{"/limits": limitsResponse(``), "/flavors/f": flavor}, want: cloud.Unauthorized},
		"the limits are secret":  {answers: map[string]string{"/flavors/f": flavor}, want: cloud.Unauthorized},
		"the flavor is a secret": {answers: map[string]string{"/limits": limitsResponse(`"maxTotalCores": 1, "totalCoresUsed": 1`)}, want: cloud.Unauthorized},
		"there is too much metadata": {
			server:  openstack.ServerCreate{Metadata: map[string]string{"a": "1", "b": "2"}},
			answers: map[string]string{"/limits": limitsResponse(`"maxServerMeta": 1`), "/flavors/f": flavor},
			want:    cloud.QuotaExceeded, wantText: "metadata items of a server (0 of 1, 2 more needed)",
		},
		"the server group is full": {
			server: openstack.ServerCreate{ServerGroupID: "g"}, answers: map[string]string{"/limits": limitsResponse(freeQuota), "/flavors/f": flavor, "/g": group},
			want: cloud.QuotaExceeded, wantText: "members of a server group (3 of 3, 1 more needed)",
		},
		"the server group is a secret": {
			server: openstack.ServerCreate{ServerGroupID: "g"}, answers: map[string]string{"/limits": limitsResponse(freeQuota), "/flavors/f": flavor}, want: cloud.Unauthorized,
		},
		"no port is left for Nova to make": {
			server:  openstack.ServerCreate{NetworkIDs: []string{"n"}},
			answers: map[string]string{"/limits": limitsResponse(freeQuota), "/flavors/f": flavor, "/quotas/project-1": `{"quota": {"port": 2}}`, "/ports": ports},
			want:    cloud.QuotaExceeded, wantText: "ports (2 of 2, 1 more needed)",
		},
		"there is a port left": {
			server:  openstack.ServerCreate{NetworkIDs: []string{"n"}},
			answers: map[string]string{"/limits": limitsResponse(freeQuota), "/flavors/f": flavor, "/quotas/project-1": `{"quota": {"port": 3}}`, "/ports": ports},
			want:    cloud.Unauthorized,
		},
		"the ports are secret": {
			server:  openstack.ServerCreate{NetworkIDs: []string{"n"}},
			answers: map[string]string{"/limits": limitsResponse(freeQuota), "/flavors/f": flavor, "/quotas/project-1": `{"quota": {"port": 0}}`}, want: cloud.Unauthorized,
		},
	} {
		t.Run(name, func(t *testing.T) {
			stub := &stubCloud{endpoints: allServices(), serve: forbidCreation(tc.answers)}
			_, err := stub.session(t, openstack.Options{}).CreateServer(t.Context(), on(tc.server))
			assert.Equal(t, tc.want, cloud.KindOf(err))
			assert.ErrorContains(t, err, "as Nova says")
			assert.ErrorContains(t, err, tc.wantText)
		})
	}
}

func TestSession_CreateServerGroup_Forbidden(t *testing.T) {
	for name, tc := range map[string]struct {
		limits string
		want   cloud.Kind
	}{
		"no group is left":       {limitsResponse(`"maxServerGroups": 10, "totalServerGroupsUsed": 10`), cloud.QuotaExceeded},
		"there is one left":      {limitsResponse(`"maxServerGroups": 10, "totalServerGroupsUsed": 9`), cloud.Unauthorized},
		"there is no limit":      {limitsResponse(`"maxServerGroups": -1, "totalServerGroupsUsed": 9`), cloud.Unauthorized},
		"the answer is nonsense": {`[]`, cloud.Unauthorized},
	} {
		t.Run(name, func(t *testing.T) {
			stub := &stubCloud{endpoints: allServices(), serve: forbidCreation(map[string]string{"/limits": tc.limits})}
			_, err := stub.session(t, openstack.Options{}).CreateServerGroup(t.Context(), "g", "affinity")
			assert.Equal(t, tc.want, cloud.KindOf(err))
			assert.ErrorContains(t, err, "as Nova says")
		})
	}
}
