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
	"github.com/trellis-garden/trellis/internal/cloud/openstack/wire"
)

func TestAGroupWithServersStaysAndIsTold(t *testing.T) {
	w := newCloudWorld(t)
	w.ask("cpu", "soft-anti-affinity")
	w.mustReconcile()
	group := w.idOf("cpu")
	server := w.plantServer(group, "somebody")

	w.ask("cpu", "")
	w.mustReconcile()
	assert.Equal(t, group, w.idOf("cpu"), "it stays on record")
	err := w.delete()
	require.ErrorContains(t, err, "has servers that are not among its machines: ["+server+"]")
	assert.Equal(t, cloud.InUse, cloud.KindOf(err))
	assert.Len(t, w.there(), 1)

	require.NoError(t, w.session().DeleteServer(t.Context(), server))
	require.NoError(t, w.cloud.WaitIdle(t.Context()))
	require.Eventually(t, func() bool { return len(w.cloud.State(fake.DefaultProject).Servers) == 0 }, waitForServers, waitForServers/100)
	require.NoError(t, w.delete())
	assert.Empty(t, w.there())
}

// Where servers are deleted softly, they stay members of their groups until the cloud clears them away, which may take days.
func TestServersThatAreDeletedSoftlyAreNone(t *testing.T) {
	w := newCloudWorld(t)
	w.ask("cpu", "soft-anti-affinity")
	w.mustReconcile()
	w.plantServer(w.idOf("cpu"), technicalID)
	w.driver = New(cloudopenstack.NewSessions(cloudopenstack.Options{Transport: func(next http.RoundTripper) http.RoundTripper {
		return softly{next}
	}}))
	require.NoError(t, w.delete())
	assert.Empty(t, w.there())
}

// softly shows every server as deleted softly.
type softly struct{ http.RoundTripper }

func (s softly) RoundTrip(request *http.Request) (*http.Response, error) {
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

func TestADeletionNeedsNoUIDForNothing(t *testing.T) {
	w := newCloudWorld(t)
	w.shoot.UID = "short"
	shoot := w.input()
	shoot.UID, shoot.Deleting = "", true
	_, err := w.driver.Tidy(t.Context(), shoot, nil)
	require.NoError(t, err)
	w.ask("cpu", "affinity")
	shoot = w.input()
	shoot.UID = ""
	_, err = w.driver.Prepare(t.Context(), shoot)
	assert.ErrorContains(t, err, "no UID")
}

// After a move that lost the record, a shoot may be deleted before anything else happens to it.
func TestADeletionFindsWhatIsNotOnRecord(t *testing.T) {
	w := newCloudWorld(t)
	w.plantGroup(w.nameOf("gone", "affinity"), "affinity")
	w.plantGroup("shoot--dev--one-gone-0123456789", "affinity")
	w.plantGroup("database", "affinity")
	require.NoError(t, w.delete())
	assert.Equal(t, []string{"database"}, w.there())
}

func TestADeletionNeedsNoCredentialsForNothing(t *testing.T) {
	for sentence, change := range map[string]func(*world){
		"there are none":     func(w *world) { w.secret = nil },
		"they are wrong":     func(w *world) { w.secret["password"] = []byte("wrong") },
		"nobody knows where": func(w *world) { w.profile.KeyStoneURL = "" },
		"groups are forbidden": func(w *world) {
			w.cloud.Inject(wire.Fault{Match: wire.Match{Path: "/v2.1/os-server-groups"}, Status: 403})
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			w := newCloudWorld(t)
			change(w)
			require.NoError(t, w.delete())
		})
		t.Run(sentence+", but there is something", func(t *testing.T) {
			w := newCloudWorld(t)
			w.record(&openstackv1alpha1.WorkerStatus{
				TypeMeta:                openstackv1alpha1.NewWorkerStatus().TypeMeta,
				ServerGroupDependencies: []openstackv1alpha1.ServerGroupDependency{{PoolName: "cpu", ID: w.plantGroup("x", "affinity"), Name: "x"}},
			})
			change(w)
			require.Error(t, w.delete())
			assert.Len(t, w.there(), 1)
		})
	}
	w := newCloudWorld(t)
	w.cloud.Inject(wire.Fault{Match: wire.Match{Path: "/v2.1/os-server-groups"}, Status: 503, Times: -1})
	require.Error(t, w.delete(), "an outage passes")
}
