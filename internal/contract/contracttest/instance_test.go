package contracttest

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// counter counts requests, and can block them.
type counter struct {
	*httptest.Server
	requests atomic.Int32
	arrived  chan struct{}
	hold     chan struct{}
}

func newCounter(t *testing.T) *counter {
	c := &counter{arrived: make(chan struct{}, 10), hold: make(chan struct{})}
	close(c.hold)
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		c.arrived <- struct{}{}
		<-c.hold
		c.requests.Add(1)
		_, _ = w.Write(append([]byte("got "), body...))
	}))
	t.Cleanup(c.Close)
	return c
}

func newTestInstance(faults *Faults) *Instance {
	return newInstance(faults, &Journal{}, func() {})
}

func TestFault_AffectsOnlyItsCall(t *testing.T) {
	tests := map[FaultType]struct {
		effects int32
		status  int
		err     error
		dead    bool
	}{
		ReturnError:            {effects: 0, status: http.StatusConflict},
		ReturnErrorAfterEffect: {effects: 1, status: http.StatusConflict},
		DropBefore:             {effects: 0, err: errDropped},
		DropAfter:              {effects: 1, err: errDropped},
		KillBefore:             {effects: 0, err: errKilled, dead: true},
		KillAfter:              {effects: 1, err: errKilled, dead: true},
	}
	for action, want := range tests {
		t.Run(action.String(), func(t *testing.T) {
			server, faults := newCounter(t), &Faults{}
			instance := newTestInstance(faults)
			client := &http.Client{Transport: instance.transport(Cloud)(http.DefaultTransport)}
			fault := &Fault{
				Call:     Call{Target: Cloud, Method: http.MethodPost, Path: "/things", Nth: 2},
				Type:     action,
				Response: func(r *http.Request) *http.Response { return JSONResponse(r, http.StatusConflict, 0, "no") },
			}
			faults.Arm(fault)

			assert.Equal(t, "got a", post(t, client, server.URL+"/things", "a"))
			require.EqualValues(t, 1, server.requests.Load())

			response, err := client.Post(server.URL+"/things", "text/plain", strings.NewReader("b"))
			if want.err == nil {
				require.NoError(t, err)
				assert.Equal(t, want.status, response.StatusCode)
				require.NoError(t, response.Body.Close())
			} else {
				require.ErrorIs(t, err, want.err)
			}
			instance.WaitIdle()
			assert.Equal(t, 1+want.effects, server.requests.Load())

			_, err = client.Get(server.URL + "/things")
			if want.dead {
				require.ErrorIs(t, err, errKilled)
				assert.Equal(t, 1+want.effects, server.requests.Load(), "a dead process sent a request")
			} else {
				require.NoError(t, err)
				assert.Equal(t, "got c", post(t, client, server.URL+"/things", "c"), "the fault struck twice")
			}
			_, fired, armed := faults.Disarm()
			assert.True(t, fired)
			assert.True(t, armed)
		})
	}
}

func TestInstance_KilledWithRequestInFlight(t *testing.T) {
	server, faults := newCounter(t), &Faults{}
	server.hold = make(chan struct{})
	instance := newTestInstance(faults)
	client := &http.Client{Transport: instance.transport(Cloud)(http.DefaultTransport)}
	lost := make(chan error)
	go func() {
		_, err := client.Post(server.URL, "text/plain", strings.NewReader("on its way"))
		lost <- err
	}()
	<-server.arrived

	instance.kill()
	require.ErrorIs(t, <-lost, errKilled)
	assert.Zero(t, server.requests.Load())
	close(server.hold)
	instance.WaitIdle()
	assert.EqualValues(t, 1, server.requests.Load())
}

func TestInstance_OnWrite(t *testing.T) {
	status := http.StatusOK
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }))
	defer server.Close()
	faults, observed := &Faults{}, []string{}
	instance := newTestInstance(faults)
	instance.onWrite = func(call Call) { observed = append(observed, call.String()) }
	cluster := &http.Client{Transport: instance.transport(KubeAPI)(http.DefaultTransport)}

	post(t, cluster, server.URL+"/api/v1/namespaces/n/secrets", `{"metadata":{"name":"one"}}`)
	post(t, cluster, server.URL+"/api/v1/namespaces/n/events", `{"metadata":{"name":"two"}}`)
	post(t, &http.Client{Transport: instance.transport(Cloud)(http.DefaultTransport)}, server.URL+"/networks", "")
	status = http.StatusForbidden
	post(t, cluster, server.URL+"/api/v1/namespaces/n/secrets", `{"metadata":{"name":"three"}}`)
	status = http.StatusOK
	faults.Arm(&Fault{Call: Call{Target: KubeAPI, Method: http.MethodPost, Path: "/secrets/four", Nth: 1}, Type: KillAfter})
	_, err := cluster.Post(server.URL+"/api/v1/namespaces/n/secrets", "text/plain", strings.NewReader(`{"metadata":{"name":"four"}}`))
	require.ErrorIs(t, err, errKilled)
	instance.WaitIdle()

	assert.Equal(t, []string{"kube POST /secrets/one", "kube POST /secrets/four"}, observed)
}

func TestFaults_NotArmed(t *testing.T) {
	server, faults := newCounter(t), &Faults{}
	client := &http.Client{Transport: newTestInstance(faults).transport(Cloud)(http.DefaultTransport)}
	post(t, client, server.URL+"/before", "")
	faults.Arm(nil)
	post(t, client, server.URL+"/b", "")
	post(t, client, server.URL+"/a", "")
	post(t, client, server.URL+"/b", "")
	calls, fired, armed := faults.Disarm()
	post(t, client, server.URL+"/after", "")

	assert.Equal(t, []Call{
		{Target: Cloud, Method: http.MethodPost, Path: "/b", Nth: 1},
		{Target: Cloud, Method: http.MethodPost, Path: "/a", Nth: 1},
		{Target: Cloud, Method: http.MethodPost, Path: "/b", Nth: 2},
	}, calls)
	assert.False(t, fired)
	assert.True(t, armed)
	_, _, armed = faults.Disarm()
	assert.False(t, armed)
}

func post(t *testing.T, client *http.Client, url, body string) string {
	t.Helper()
	response, err := client.Post(url, "text/plain", strings.NewReader(body))
	require.NoError(t, err)
	defer func() { require.NoError(t, response.Body.Close()) }()
	answer, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return string(answer)
}
