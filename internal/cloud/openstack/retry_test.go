package openstack_test

import (
	"context"
	"net"
	"net/http"
	"os"
	"slices"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/cloud"
	"github.com/trellis-garden/trellis/internal/cloud/openstack"
	"github.com/trellis-garden/trellis/internal/cloud/transport"
)

// requestsByName are calls by whether they are safe to repeat.
func requestsByName() map[string]func(context.Context, *openstack.Session) error {
	return map[string]func(context.Context, *openstack.Session) error{
		"GET": listNetworks,
		"DELETE": func(ctx context.Context, s *openstack.Session) error {
			return s.DeleteNetwork(ctx, "n")
		},
		"PUT": func(ctx context.Context, s *openstack.Session) error {
			_, err := s.UpdateRouter(ctx, "r", openstack.RouterUpdate{})
			return err
		},
		"PUT with If-Match": func(ctx context.Context, s *openstack.Session) error {
			_, err := s.UpdateRouter(ctx, "r", openstack.RouterUpdate{IfRevision: 3})
			return err
		},
		"PUT add_router_interface": func(ctx context.Context, s *openstack.Session) error {
			_, err := s.AddRouterInterface(ctx, "r", "s")
			return err
		},
		"PUT remove_router_interface": func(ctx context.Context, s *openstack.Session) error {
			return s.RemoveRouterInterface(ctx, "r", "s")
		},
		"POST": func(ctx context.Context, s *openstack.Session) error {
			_, err := s.CreateNetwork(ctx, openstack.NetworkCreate{})
			return err
		},
	}
}

func TestRetry_ByMethodAndFailure(t *testing.T) {
	harmless := []string{"GET", "DELETE", "PUT", "PUT remove_router_interface"}
	harmful := []string{"PUT with If-Match", "PUT add_router_interface", "POST"}
	always := slices.Concat(harmless, harmful)
	withRetryAfter := func(code int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "1")
			reply(w, code, `{}`)
		}
	}
	for name, tc := range map[string]struct {
		failure  http.HandlerFunc
		repeated []string
	}{
		"too many requests: nothing happened":                      {failure: status(429, `{}`), repeated: always},
		"unavailable, with a time to come back: nothing happened":  {failure: withRetryAfter(503), repeated: always},
		"unavailable: may have happened":                           {failure: status(503, `{}`), repeated: harmless},
		"a gateway lost the service: may have happened":            {failure: status(502, `{}`), repeated: harmless},
		"a gateway timed out: may have happened":                   {failure: status(504, `{}`), repeated: harmless},
		"a gateway timed out, with a time to come back: no matter": {failure: withRetryAfter(504), repeated: harmless},
		"the connection was lost: may have happened":               {failure: drop, repeated: harmless},
		"an internal error: a repetition would not help":           {failure: status(500, `{}`)},
		"a conflict: a repetition would not help":                  {failure: status(409, `{}`)},
	} {
		t.Run(name, func(t *testing.T) {
			for request, do := range requestsByName() {
				synctest.Test(t, func(t *testing.T) {
					ok := status(http.StatusOK, `{"networks": [], "network": {}, "router": {}, "port_id": "p"}`)
					stub := &stubCloud{serve: inSequence(tc.failure, tc.failure, ok)}
					err := do(t.Context(), stub.session(t, openstack.Options{}))
					if slices.Contains(tc.repeated, request) {
						assert.NoError(t, err, request)
						assert.Len(t, stub.calls(), 3, request)
						return
					}
					require.Error(t, err, request)
					assert.Len(t, stub.calls(), 1, request)
				})
			}
		})
	}
}

func TestRetry_DialFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		refused := &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
		stub := &stubCloud{serve: status(http.StatusCreated, `{"network": {"id": "n"}}`)}
		failures := 2
		sessions := openstack.NewSessions(openstack.Options{Transport: func(http.RoundTripper) http.RoundTripper {
			return roundTripper(func(req *http.Request) (*http.Response, error) {
				if req.Method == http.MethodPost && req.URL.Path != "/identity/v3/auth/tokens" && failures > 0 {
					failures--
					return nil, refused
				}
				return stub.RoundTrip(req)
			})
		}})
		session, err := sessions.Get(t.Context(), credentials(), "one")
		require.NoError(t, err)
		_, err = session.CreateNetwork(t.Context(), openstack.NetworkCreate{})
		require.NoError(t, err)
		assert.Zero(t, failures)
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (f roundTripper) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

func TestRetryPolicy_Pauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var at []time.Time
		stub := &stubCloud{serve: func(w http.ResponseWriter, _ *http.Request) {
			at = append(at, time.Now())
			reply(w, http.StatusServiceUnavailable, `{}`)
		}}
		session := stub.session(t, openstack.Options{
			Retry: transport.RetryPolicy{Attempts: 6, FirstPause: time.Second, LongestPause: 5 * time.Second},
		})
		require.Error(t, listNetworks(t.Context(), session))
		require.Len(t, at, 6)
		for i, full := range []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 5 * time.Second, 5 * time.Second} {
			pause := at[i+1].Sub(at[i])
			assert.LessOrEqual(t, pause, full)
			assert.GreaterOrEqual(t, pause, full/2)
		}
	})
}

func TestRetry_RetryAfter(t *testing.T) {
	for name, tc := range map[string]struct {
		retryAfter func() string
		calls      int
		waited     time.Duration // at least
		remaining  time.Duration
	}{
		"in seconds": {
			retryAfter: func() string { return "7" }, calls: 4, waited: 21 * time.Second, remaining: 7 * time.Second,
		},
		"as a date": {
			retryAfter: func() string { return time.Now().Add(9 * time.Second).UTC().Format(http.TimeFormat) },
			calls:      4, waited: 27 * time.Second, remaining: 9 * time.Second,
		},
		"so late that the caller had better do something else": {
			retryAfter: func() string { return "120" }, calls: 1, remaining: 2 * time.Minute,
		},
		"but not when it makes no sense": {retryAfter: func() string { return "soon" }, calls: 4},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				stub := &stubCloud{serve: func(w http.ResponseWriter, _ *http.Request) {
					w.Header().Set("Date", time.Now().UTC().Format(http.TimeFormat))
					w.Header().Set("Retry-After", tc.retryAfter())
					reply(w, http.StatusTooManyRequests, `{}`)
				}}
				session := stub.session(t, openstack.Options{})
				started := time.Now()
				err := listNetworks(t.Context(), session)
				assert.Equal(t, cloud.RateLimited, cloud.KindOf(err))
				assert.Equal(t, tc.remaining, cloud.RetryAfter(err))
				assert.Len(t, stub.calls(), tc.calls)
				assert.GreaterOrEqual(t, time.Since(started), tc.waited)
			})
		})
	}
}

func TestRetry_Deadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stub := &stubCloud{serve: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "5")
			reply(w, http.StatusServiceUnavailable, `{}`)
		}}
		session := stub.session(t, openstack.Options{})

		ctx, cancel := context.WithTimeout(t.Context(), 8*time.Second)
		defer cancel()
		started := time.Now()
		err := listNetworks(ctx, session)
		assert.Equal(t, 5*time.Second, time.Since(started), "a pause that the deadline would cut short is not begun")
		assert.Equal(t, 5*time.Second, cloud.RetryAfter(err))
		assert.Len(t, stub.calls(), 2)

		ctx, cancel = context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		err = listNetworks(ctx, session)
		require.ErrorIs(t, err, context.Canceled)
		assert.Equal(t, cloud.Unavailable, cloud.KindOf(err))
		assert.Len(t, stub.calls(), 3)
	})
}

func TestRetry_Login(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		attempts := 0
		stub := &stubCloud{login: func(*http.Request) int {
			attempts++
			if attempts == 1 {
				panic(dropped{})
			}
			return 0
		}}
		stub.session(t, openstack.Options{})
		assert.Equal(t, 2, attempts)
	})
}
