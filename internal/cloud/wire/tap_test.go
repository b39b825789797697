package wire_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

const (
	network wire.Service = "network"
	compute wire.Service = "compute"
)

// cloud is a service that counts the effects of its calls.
type cloud struct {
	*wire.Tap
	url     string
	effects atomic.Int32
}

func start(t *testing.T) *cloud {
	t.Helper()
	c := &cloud{Tap: new(wire.Tap)}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c.Handle(w, wire.Call{Service: network, Method: r.Method, Path: r.URL.Path, Query: r.URL.RawQuery},
			func() wire.Response { return wire.JSON(http.StatusCreated, c.effects.Add(1)) },
			func(err *wire.Error) wire.Response { return wire.JSON(err.Status, err.Message) })
	}))
	t.Cleanup(server.Close)
	c.url = server.URL
	return c
}

// call returns the status, or "lost".
func (c *cloud) call(ctx context.Context, method, path string) (string, error) {
	r, err := http.NewRequestWithContext(ctx, method, c.url+path, nil)
	if err != nil {
		return "", err
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return "lost", err
	}
	defer func() { _ = response.Body.Close() }()
	_, err = io.Copy(io.Discard, response.Body)
	return strconv.Itoa(response.StatusCode), err
}

func (c *cloud) post(t *testing.T) string {
	t.Helper()
	got, _ := c.call(t.Context(), http.MethodPost, "/v2.0/networks")
	return got
}

func TestTap_Inject(t *testing.T) {
	posts := wire.Match{Service: network, Method: http.MethodPost, Path: "/v2.0/networks"}
	for name, test := range map[string]struct {
		fault  wire.Fault
		want   string // of four calls
		effect int
	}{
		"once unless told otherwise": {wire.Fault{Match: posts, Status: 503}, "503 201 201 201", 3},
		"the third":                  {wire.Fault{Match: posts, Skip: 2, Status: 500}, "201 201 500 201", 3},
		"two of them":                {wire.Fault{Match: posts, Skip: 1, Times: 2, Status: 409}, "201 409 409 201", 2},
		"all of them":                {wire.Fault{Match: posts, Times: -1, Status: 403}, "403 403 403 403", 0},
		"by a pattern":               {wire.Fault{Match: wire.Match{Path: "/v2.0/*"}, Status: 503}, "503 201 201 201", 3},
		"whatever they are":          {wire.Fault{Status: 503}, "503 201 201 201", 3},
		"writes only":                {wire.Fault{Match: wire.Match{WritesOnly: true}, Status: 503}, "503 201 201 201", 3},
		"after their effect":         {wire.Fault{Match: posts, Status: 504, AfterEffect: true}, "504 201 201 201", 4},
		"by cutting them off":        {wire.Fault{Match: posts, Skip: 1, Drop: wire.DropBefore}, "201 lost 201 201", 3},
		"by losing their answer":     {wire.Fault{Match: posts, Skip: 1, Drop: wire.DropAfter}, "201 lost 201 201", 4},
		"not another service's":      {wire.Fault{Match: wire.Match{Service: compute}, Times: -1, Status: 503}, "201 201 201 201", 4},
		"not another method's":       {wire.Fault{Match: wire.Match{Method: http.MethodGet}, Times: -1, Status: 503}, "201 201 201 201", 4},
		"not another path's":         {wire.Fault{Match: wire.Match{Path: "/v2.0/*/{id}"}, Times: -1, Status: 503}, "201 201 201 201", 4},
	} {
		t.Run(name, func(t *testing.T) {
			c := start(t)
			struck := c.Inject(test.fault)
			var got []string
			for range 4 {
				got = append(got, c.post(t))
			}
			require.Equal(t, test.want, strings.Join(got, " "))
			require.EqualValues(t, test.effect, c.effects.Load())
			require.Equal(t, 4-strings.Count(test.want, "201"), struck())
			require.Equal(t, []wire.Fault{test.fault}, c.Faults())
			c.ClearFaults()
			require.Empty(t, c.Faults())
			require.Equal(t, "201", c.post(t))
		})
	}
}

func TestTap_Inject_SeveralFaults(t *testing.T) {
	c := start(t)
	c.SetLatency(20 * time.Millisecond)
	c.Inject(wire.Fault{Delay: 20 * time.Millisecond})
	c.Inject(wire.Fault{Status: 503, Delay: 20 * time.Millisecond})
	c.Inject(wire.Fault{Status: 409})
	begin := time.Now()
	require.Equal(t, "503", c.post(t))
	require.GreaterOrEqual(t, time.Since(begin), 60*time.Millisecond)
	require.Equal(t, "409", c.post(t), "a fault that did not decide has not struck")
	require.Equal(t, "201", c.post(t))
}

func TestTap_Inject_DroppedGET(t *testing.T) {
	for _, drop := range []wire.Drop{wire.DropBefore, wire.DropAfter} {
		t.Run(string(drop), func(t *testing.T) {
			c := start(t)
			_, err := c.call(t.Context(), http.MethodGet, "/") // which leaves a connection to be used again
			require.NoError(t, err)
			c.ResetLog()
			c.Inject(wire.Fault{Drop: drop})
			_, err = c.call(t.Context(), http.MethodGet, "/")
			require.Error(t, err)
			require.Len(t, c.Log(), 1)
		})
	}
}

func TestTap_SetHook(t *testing.T) {
	c := start(t)
	var seen []string
	cut := wire.Phase("")
	c.SetHook(func(e wire.Event) wire.HookResult {
		seen = append(seen, string(e.Phase)+" "+e.Call.String()+" of "+strconv.Itoa(len(c.Log())))
		if e.Phase == cut {
			return wire.DropConnection
		}
		return wire.Proceed
	})
	require.Equal(t, "201", c.post(t))
	cut = wire.Before
	require.Equal(t, "lost", c.post(t))
	cut = wire.After
	require.Equal(t, "lost", c.post(t))
	require.NoError(t, c.WaitIdle(t.Context()))
	require.Equal(t, []string{
		"before network POST /v2.0/networks 0 of 1",
		"after network POST /v2.0/networks 201 of 1",
		"before network POST /v2.0/networks 0 of 2",
		"before network POST /v2.0/networks 0 of 3",
		"after network POST /v2.0/networks 201 of 3",
	}, seen)
	require.EqualValues(t, 2, c.effects.Load())
	require.Equal(t, []int{201, 0, 201}, []int{c.Log()[0].Status, c.Log()[1].Status, c.Log()[2].Status})
	c.SetHook(nil)
	require.Equal(t, "201", c.post(t))
	require.Len(t, seen, 5)
}

func TestCall_IsWrite(t *testing.T) {
	require.True(t, wire.Call{Method: http.MethodPost}.IsWrite())
	require.False(t, wire.Call{Method: http.MethodGet}.IsWrite())
	require.False(t, wire.Call{Method: http.MethodPost, ReadOnly: true}.IsWrite(), "an API of actions uses POST for reads")
}

func TestTap_Log(t *testing.T) {
	c := start(t)
	c.post(t)
	c.ResetLog()
	const callers = 5
	arrived, release := make(chan struct{}, callers), make(chan struct{})
	c.SetHook(func(e wire.Event) wire.HookResult {
		if e.Phase == wire.Before {
			arrived <- struct{}{}
			<-release
		}
		return wire.Proceed
	})
	var wg sync.WaitGroup
	for range callers {
		wg.Go(func() { _, _ = c.call(t.Context(), http.MethodGet, "/v2.0/networks?name=n") })
	}
	for range callers {
		<-arrived
	}
	for _, call := range c.Log() {
		require.Zero(t, call.Status, "under way")
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	require.ErrorIs(t, c.WaitIdle(ctx), context.DeadlineExceeded)
	close(release)
	wg.Wait()
	require.NoError(t, c.WaitIdle(t.Context()))
	c.SetHook(nil)
	c.post(t)

	log := c.Log()
	require.Equal(t, map[string]int{"network GET /v2.0/networks": callers, "network POST /v2.0/networks": 1}, log.Count())
	require.Equal(t, callers, log.MaxInFlight())
	require.Len(t, log.Where(wire.Call.IsWrite), 1)
	for i, call := range log {
		require.Equal(t, i+1, call.Seq)
		require.Equal(t, http.StatusCreated, call.Status)
	}
	require.Contains(t, log.String(), "   5  network GET /v2.0/networks?name=n 201\n   6  network POST /v2.0/networks 201\n")
	require.Equal(t, "   5  network GET /v2.0/networks\n   1  network POST /v2.0/networks\n", log.Summary())
}

func TestTap_ResetLog_CallInFlight(t *testing.T) {
	c := start(t)
	entered, release := make(chan struct{}), make(chan struct{})
	c.SetHook(func(e wire.Event) wire.HookResult {
		if e.Call.Path == "/old" && e.Phase == wire.Before {
			close(entered)
			<-release
		}
		return wire.Proceed
	})
	ended := make(chan error)
	go func() { _, err := c.call(t.Context(), http.MethodGet, "/old"); ended <- err }()
	<-entered
	c.ResetLog()
	c.Inject(wire.Fault{Drop: wire.DropBefore, Match: wire.Match{Path: "/new"}})
	_, err := c.call(t.Context(), http.MethodGet, "/new")
	require.Error(t, err)
	close(release)
	require.NoError(t, <-ended)
	require.NoError(t, c.WaitIdle(t.Context()))
	require.Equal(t, "   1  network GET /new 0\n", c.Log().String())
}

func TestTap_WaitIdle_ClientKilled(t *testing.T) {
	c := start(t)
	entered, release := make(chan struct{}), make(chan struct{})
	c.SetHook(func(e wire.Event) wire.HookResult {
		if e.Phase == wire.Before {
			close(entered)
			<-release
		}
		return wire.Proceed
	})
	ctx, kill := context.WithCancel(t.Context())
	dead := make(chan error)
	go func() { _, err := c.call(ctx, http.MethodPost, "/"); dead <- err }()
	<-entered
	kill()
	require.ErrorIs(t, <-dead, context.Canceled)
	require.Zero(t, c.effects.Load())
	close(release)
	require.NoError(t, c.WaitIdle(t.Context()))
	require.EqualValues(t, 1, c.effects.Load())
}

func TestTap_Logins(t *testing.T) {
	tap := new(wire.Tap)
	for _, login := range []bool{true, false} {
		tap.Handle(httptest.NewRecorder(), wire.Call{Service: network, Method: http.MethodPost, Login: login},
			func() wire.Response { return wire.Response{Status: http.StatusCreated} }, nil)
	}
	require.Equal(t, 1, tap.Logins())
}

func TestTap_DropConnection_NotHijackable(t *testing.T) {
	tap := new(wire.Tap)
	tap.SetHook(func(wire.Event) wire.HookResult { return wire.DropConnection })
	seen := httptest.NewRecorder()
	tap.Handle(seen, wire.Call{}, nil, nil)
	require.Equal(t, http.StatusBadGateway, seen.Code)
}

func TestJSON_EncodingFails(t *testing.T) {
	response := wire.JSON(http.StatusOK, map[string]any{"a function": start})
	require.Equal(t, http.StatusInternalServerError, response.Status)
	require.Contains(t, string(response.Body), "encoding the response")
}
