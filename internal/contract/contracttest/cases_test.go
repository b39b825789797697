package contracttest

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestMergedFault_AffectsEachCallOnce(t *testing.T) {
	server, faults := newCounter(t), &Faults{}
	client := &http.Client{Transport: newTestInstance(faults).transport(Cloud)(http.DefaultTransport)}
	faults.Arm(&Fault{
		All: []Call{
			{Target: Cloud, Method: http.MethodPost, Path: "/a", Nth: 1},
			{Target: Cloud, Method: http.MethodPost, Path: "/b", Nth: 1},
			{Target: Cloud, Method: http.MethodPost, Path: "/b", Nth: 3},
		},
		Type: DropBefore,
	})
	var outcomes []bool
	for _, path := range []string{"/b", "/b", "/c", "/a", "/a", "/b", "/b"} {
		response, err := client.Post(server.URL+path, "text/plain", nil)
		if err == nil {
			require.NoError(t, response.Body.Close())
		}
		outcomes = append(outcomes, err == nil)
	}
	assert.Equal(t, []bool{false, true, true, false, true, false, true}, outcomes)
	_, fired, _ := faults.Disarm()
	assert.True(t, fired)
}

func TestMergedFault_CallMissing(t *testing.T) {
	server, faults := newCounter(t), &Faults{}
	client := &http.Client{Transport: newTestInstance(faults).transport(Cloud)(http.DefaultTransport)}
	a := Call{Target: Cloud, Method: http.MethodPost, Path: "/a", Nth: 1}
	faults.Arm(&Fault{All: []Call{a, {Target: Cloud, Method: http.MethodPost, Path: "/b", Nth: 1}}, Type: DropBefore})
	_, err := client.Post(server.URL+"/a", "text/plain", nil)
	require.ErrorIs(t, err, errDropped)
	_, fired, _ := faults.Disarm()
	assert.False(t, fired)
}

func TestMergeFaults(t *testing.T) {
	one, two := Call{Target: KubeAPI, Method: http.MethodPost, Path: "/a", Nth: 1}, Call{Target: KubeAPI, Method: http.MethodPost, Path: "/b", Nth: 1}
	var names []string
	for _, fault := range mergeFaults(Create, append(faultsOf(Create, one, nil), faultsOf(Create, two, nil)...)) {
		names = append(names, fault.String())
	}
	assert.Equal(t, []string{
		"every call once: kill before effect",
		"kube POST /a: kill after effect",
		"every call once: drop before effect",
		"every call once: drop after effect",
		"every call once: refuse with 409 conflict",
		"every call once: refuse with 403 forbidden",
		"every call once: refuse with 429 too many requests",
		"every call once: refuse with 500 internal error",
		"every call once: refuse with 503 unavailable",
		"every call once: refuse with 504 timeout",
		"every call once: effect, then refuse with 504 timeout",
		"kube POST /b: kill after effect",
	}, names)
}

func TestMergeFaults_Restore(t *testing.T) {
	call := Call{Target: KubeAPI, Method: http.MethodPost, Path: "/a", Nth: 1}
	for _, fault := range mergeFaults(Restore, faultsOf(Restore, call, nil)) {
		assert.Contains(t, fault.String(), "every call once")
	}
}

func TestMergeFaults_Abandon(t *testing.T) {
	call := Call{Target: KubeAPI, Method: http.MethodPost, Path: "/a", Nth: 1}
	faults := mergeFaults(Abandon, faultsOf(Abandon, call, nil))
	require.Len(t, faults, 1)
	assert.Equal(t, "kube POST /a: kill after effect", faults[0].String())
}
