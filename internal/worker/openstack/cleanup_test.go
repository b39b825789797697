package openstack

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/internal/cloud"
	cloudopenstack "github.com/trellis-garden/trellis/internal/cloud/openstack"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

func TestCleanup_GroupWithServers(t *testing.T) {
	env := newCloudEnvironment(t)
	env.setServerGroup("cpu", "soft-anti-affinity")
	env.mustReconcile()
	group := env.groupID("cpu")
	server := env.createServer(group, "somebody")

	env.setServerGroup("cpu", "")
	env.mustReconcile()
	assert.Equal(t, group, env.groupID("cpu"), "the group stays recorded")
	err := env.delete()
	require.ErrorContains(t, err, "has servers that are not among its machines: ["+server+"]")
	assert.Equal(t, cloud.InUse, cloud.KindOf(err))
	assert.Len(t, env.serverGroupNames(), 1)

	require.NoError(t, env.session().DeleteServer(t.Context(), server))
	require.NoError(t, env.cloud.WaitIdle(t.Context()))
	require.Eventually(t, func() bool { return len(env.cloud.State(fake.DefaultProject).Servers) == 0 }, waitForServers, waitForServers/100)
	require.NoError(t, env.delete())
	assert.Empty(t, env.serverGroupNames())
}

// Soft-deleted servers stay members of their groups until the cloud purges them, which may take days.
func TestCleanup_SoftDeletedServers(t *testing.T) {
	env := newCloudEnvironment(t)
	env.setServerGroup("cpu", "soft-anti-affinity")
	env.mustReconcile()
	env.createServer(env.groupID("cpu"), technicalID)
	env.driver = New(cloudopenstack.NewSessions(cloudopenstack.Options{Transport: func(next http.RoundTripper) http.RoundTripper {
		return softDeletedTransport{next}
	}}))
	require.NoError(t, env.delete())
	assert.Empty(t, env.serverGroupNames())
}

// softDeletedTransport returns every server as soft-deleted.
type softDeletedTransport struct{ http.RoundTripper }

func (s softDeletedTransport) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := s.RoundTripper.RoundTrip(request)
	if err != nil || !strings.Contains(request.URL.Path, "/servers/") {
		return response, err
	}
	body, err := io.ReadAll(response.Body)
	if err := errors.Join(err, response.Body.Close()); err != nil {
		return nil, err
	}
	body = regexp.MustCompile(`"status": ?"[A-Z]+"`).ReplaceAll(body, []byte(`"status":"SOFT_DELETED"`))
	response.Body, response.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return response, nil
}

func TestCleanup_DeletionWithoutUID(t *testing.T) {
	env := newCloudEnvironment(t)
	env.shoot.UID = "short"
	shoot := env.shootInput()
	shoot.UID, shoot.Deleting = "", true
	_, err := env.driver.Cleanup(t.Context(), shoot, nil)
	require.NoError(t, err)
	env.setServerGroup("cpu", "affinity")
	shoot = env.shootInput()
	shoot.UID = ""
	_, err = env.driver.Prepare(t.Context(), shoot)
	assert.ErrorContains(t, err, "no UID")
}

// After a migration that lost the record, a shoot may be deleted at once.
func TestCleanup_DeletionOfUnrecordedGroups(t *testing.T) {
	env := newCloudEnvironment(t)
	env.createServerGroup(env.newGroupName("gone", "affinity"), "affinity")
	env.createServerGroup("shoot--dev--one-gone-0123456789", "affinity")
	env.createServerGroup("database", "affinity")
	require.NoError(t, env.delete())
	assert.Equal(t, []string{"database"}, env.serverGroupNames())
}

func TestCleanup_DeletionWithoutCredentials(t *testing.T) {
	for sentence, change := range map[string]func(*environment){
		"no credentials":    func(env *environment) { env.secret = nil },
		"wrong credentials": func(env *environment) { env.secret["password"] = []byte("wrong") },
		"no Keystone URL":   func(env *environment) { env.profile.KeyStoneURL = "" },
		"groups are forbidden": func(env *environment) {
			env.cloud.Inject(wire.Fault{Match: wire.Match{Path: "/v2.1/os-server-groups"}, Status: 403})
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			env := newCloudEnvironment(t)
			change(env)
			require.NoError(t, env.delete())
		})
		t.Run(sentence+", with a recorded group", func(t *testing.T) {
			env := newCloudEnvironment(t)
			env.record(&openstackv1alpha1.WorkerStatus{
				TypeMeta:                openstackv1alpha1.NewWorkerStatus().TypeMeta,
				ServerGroupDependencies: []openstackv1alpha1.ServerGroupDependency{{PoolName: "cpu", ID: env.createServerGroup("x", "affinity"), Name: "x"}},
			})
			change(env)
			require.Error(t, env.delete())
			assert.Len(t, env.serverGroupNames(), 1)
		})
	}
	env := newCloudEnvironment(t)
	env.cloud.Inject(wire.Fault{Match: wire.Match{Path: "/v2.1/os-server-groups"}, Status: 503, Times: -1})
	require.Error(t, env.delete(), "an outage is not ignored")
}
