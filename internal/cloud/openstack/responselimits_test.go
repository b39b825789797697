package openstack_test

import (
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/cloud"
	"github.com/trellis-garden/trellis/internal/cloud/openstack"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/auth"
	"github.com/trellis-garden/trellis/internal/cloud/transport"
)

// maxAllocated bounds what one call may allocate in total, for any response. Most of it is garbage at once: reading a page of 8 MiB
// takes five times as much.
const maxAllocated = 64 << 20

// hostileCloud serves a stub over real HTTP, so that only this package limits its responses.
func hostileCloud(t *testing.T, stub *stubCloud) auth.Credentials {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(stub.handleOverHTTP))
	t.Cleanup(server.Close)
	stub.endpoints = map[string]string{
		"network": server.URL + "/network", "compute": server.URL + "/compute/v2.1", "image": server.URL + "/image",
	}
	return auth.Credentials{
		AuthURL: server.URL + "/identity", Username: "user", Password: "pa55word", DomainName: "domain", TenantName: "project",
	}
}

func hostileSession(t *testing.T, stub *stubCloud, options openstack.Options) *openstack.Session {
	t.Helper()
	credentials := hostileCloud(t, stub)
	session, err := openstack.NewSessions(options).Get(t.Context(), credentials, "one")
	require.NoError(t, err)
	return session
}

// allocated returns how much memory a function allocates, that of the server in this process included.
func allocated(do func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// repeated writes a text so many times between two others, without holding all of it; endlessly for a negative number.
func repeated(w io.Writer, before, text string, times int, after string) {
	const atOnce = 1000
	chunk := []byte(strings.Repeat(text, atOnce))
	_, err := io.WriteString(w, before)
	for written := 0; err == nil && (times < 0 || written < times); written += atOnce {
		_, err = w.Write(chunk)
	}
	_, _ = io.WriteString(w, strings.TrimSuffix(text, ",")+after)
}

func repeatedBody(before, text string, times int, after string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { repeated(w, before, text, times, after) }
}

func compressed(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Encoding", "gzip")
	zip := gzip.NewWriter(w)
	repeated(zip, `{"ports": [`, `{"name": "          "},`, 1_000_000, `]}`)
	_ = zip.Close()
}

func listPorts(ctx context.Context, s *openstack.Session) error {
	_, err := s.ListPorts(ctx, openstack.PortFilter{})
	return err
}

func getRouter(ctx context.Context, s *openstack.Session) error {
	_, err := s.GetRouter(ctx, "r")
	return err
}

func TestSession_ResponseTooLarge(t *testing.T) {
	for name, test := range map[string]struct {
		serve http.HandlerFunc
		do    func(context.Context, *openstack.Session) error
		want  string
	}{
		"a page of a million empty objects": {
			repeatedBody(`{"ports": [`, `{},`, 1_000_000, `]}`), listPorts,
			"GET ports of the network service: the answer cannot be used: it has more than 419430 values",
		},
		"a page of too many small objects": {
			repeatedBody(`{"ports": [`, `{"id": "`+strings.Repeat("x", 50)+`"},`, 20_000, `]}`), listPorts,
			"GET ports of the network service: the answer cannot be used: the list has more than 20000 objects",
		},
		"a page without end": {
			repeatedBody(`{"ports": [`, `{"id": "`+strings.Repeat("x", 500)+`"},`, -1, `]}`), listPorts,
			"GET ports of the network service: the answer cannot be used: it is longer than 8388608 bytes",
		},
		"a page of white space": {
			repeatedBody(``, `        `, -1, ``), listPorts,
			"GET ports of the network service: the answer cannot be used: it is longer than 8388608 bytes",
		},
		"a page with an object of countless parts": {
			repeatedBody(`{"ports": [{"fixed_ips": [`, `{},`, 1_000_000, `]}]}`), listPorts,
			"GET ports of the network service: the answer cannot be used: it has more than 419430 values",
		},
		"a page with countless attributes that nobody knows": {
			repeatedBody(`{"ports": [], "other": [`, `[],`, 1_000_000, `]}`), listPorts,
			"GET ports of the network service: the answer cannot be used: it has more than 419430 values",
		},
		"a compressed page": {
			compressed, listPorts,
			"GET ports of the network service: the answer cannot be used: it is compressed, although that was not requested",
		},
		"an object without end": {
			repeatedBody(`{"router": {"name": "`, `x`, -1, `"}}`), getRouter,
			"GET routers/r of the network service: the answer cannot be used: it is longer than 1048576 bytes",
		},
		"an object of countless parts": {
			repeatedBody(`{"router": {"routes": [`, `{},`, 300_000, `]}}`), getRouter,
			"GET routers/r of the network service: the answer cannot be used: it has more than 52428 values",
		},
		"a header without end": {
			func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("X-Openstack-Request-Id", strings.Repeat("x", 1<<20))
			}, getRouter,
			"GET routers/r of the network service: net/http: HTTP/1.x transport connection broken: net/http: server response headers exceeded 65536 bytes; aborted",
		},
	} {
		t.Run(name, func(t *testing.T) {
			stub := &stubCloud{serve: test.serve}
			session := hostileSession(t, stub, openstack.Options{Retry: transport.RetryPolicy{FirstPause: time.Nanosecond}})
			var err error
			took := allocated(func() { err = test.do(t.Context(), session) })
			require.EqualError(t, err, test.want)
			assert.Equal(t, cloud.Unavailable, cloud.KindOf(err), "it is not the user's fault, and may be better later")
			assert.Less(t, took, uint64(maxAllocated))
			if !strings.Contains(test.want, "net/http") {
				assert.Len(t, stub.calls(), 1, "it is not worth asking again at once")
			}
		})
	}
}

func TestSessions_LoginResponseTooLarge(t *testing.T) {
	for name, test := range map[string]struct {
		answer http.HandlerFunc
		want   string
	}{
		"a token without end":             {repeatedBody(`{"token": {"methods": "`, `x`, -1, `"}}`), "it is longer than 2097152 bytes"},
		"a catalog of a countless number": {repeatedBody(`{"token": {"catalog": [`, `{},`, 600_000, `]}}`), "it has more than 104857 values"},
	} {
		t.Run(name, func(t *testing.T) {
			requests := 0
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
				requests++
				w.Header().Set("X-Subject-Token", "token")
				w.WriteHeader(http.StatusCreated)
				test.answer(w, req)
			}))
			defer server.Close()
			c := credentials()
			c.AuthURL = server.URL
			var err error
			took := allocated(func() { _, err = openstack.NewSessions(openstack.Options{}).Get(t.Context(), c, "one") })
			require.EqualError(t, err, "logging in at "+server.URL+"/v3/: POST auth/tokens of the identity service: the answer cannot be used: "+test.want)
			assert.Equal(t, cloud.Unavailable, cloud.KindOf(err))
			assert.Less(t, took, uint64(maxAllocated))
			assert.Equal(t, 1, requests)
		})
	}
}

func TestSession_ErrorResponseTooLarge(t *testing.T) {
	for name, response := range map[string]http.HandlerFunc{
		"a text without end": repeatedBody(`{"NeutronError": {"type": "NetworkInUse", "message": "`, `x`, -1, `"}}`),
		"a text of five MiB": repeatedBody(`{"NeutronError": {"type": "NetworkInUse", "message": "`, `x`, 5<<20, `"}}`),
		"countless members":  repeatedBody(`{`, `"":{},`, 170_000, `}`),
		"compressed":         compressed,
	} {
		t.Run(name, func(t *testing.T) {
			stub := &stubCloud{serve: func(w http.ResponseWriter, req *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				w.Header().Set("Content-Encoding", map[bool]string{true: "gzip"}[name == "compressed"])
				w.WriteHeader(http.StatusNotFound)
				response(w, req)
			}}
			session := hostileSession(t, stub, openstack.Options{})
			var err error
			took := allocated(func() { err = session.DeleteNetwork(t.Context(), "n") })
			require.EqualError(t, err, "DELETE networks/n answered 404", "the status code alone still says what happened")
			assert.Equal(t, cloud.NotFound, cloud.KindOf(err))
			assert.Less(t, took, uint64(maxAllocated))
		})
	}
}

// pageAfter responds with a page of networks and a link to a page.
func pageAfter(w http.ResponseWriter, objects, link string) {
	reply(w, http.StatusOK, `{"networks": [`+objects+`], "networks_links": [{"rel": "next", "href": "`+link+`"}]}`)
}

func TestSession_EndlessList(t *testing.T) {
	const one, link = `{"id": "1"}`, "https://cloud.test/v2.0/networks?marker="
	following := func(serve func(w http.ResponseWriter, page int)) http.HandlerFunc {
		return func(w http.ResponseWriter, req *http.Request) {
			page, _ := strconv.Atoi(req.URL.Query().Get("marker"))
			serve(w, page)
		}
	}
	for name, test := range map[string]struct {
		serve    http.HandlerFunc
		want     string
		requests int
	}{
		"always another page": {following(func(w http.ResponseWriter, page int) {
			pageAfter(w, one, link+strconv.Itoa(page+1))
		}), "the list has more than 200 pages", 200},
		"pages in a circle": {following(func(w http.ResponseWriter, page int) {
			pageAfter(w, one, link+strconv.Itoa(page%3+1))
		}), "the list leads back to a page that was read before", 4},
		"pages in a circle, behind other links": {func(w http.ResponseWriter, req *http.Request) {
			page, _ := strconv.Atoi(req.URL.Query().Get("marker"))
			again, _ := strconv.Atoi(req.URL.Query().Get("again"))
			pageAfter(w, one, fmt.Sprintf("%s%d&again=%d", link, page%2+1, again+1))
		}, "the list leads back to a page that was read before", 3},
		"many full pages": {following(func(w http.ResponseWriter, page int) {
			before := fmt.Sprintf(`{"networks_links": [{"rel": "next", "href": "%s%d"}], "networks": [{"name": "`, link, page+1)
			repeated(w, before, "x", 7<<20, `"}]}`)
		}), "the list is longer than 33554432 bytes", 5},
		"many objects": {following(func(w http.ResponseWriter, page int) {
			before := fmt.Sprintf(`{"networks_links": [{"rel": "next", "href": "%s%d"}], "networks": [`, link, page+1)
			repeated(w, before, `{"id": "x"},`, 6000, `]}`)
		}), "the list has more than 20000 objects", 4},
		"a link without end": {following(func(w http.ResponseWriter, _ int) {
			pageAfter(w, one, link+strings.Repeat("1", 40_000))
		}), "its link to the next page is longer than 32768 bytes", 1},
	} {
		t.Run(name, func(t *testing.T) {
			stub := &stubCloud{serve: test.serve}
			session := hostileSession(t, stub, openstack.Options{QPS: -1})
			err := listNetworks(t.Context(), session)
			require.EqualError(t, err, "GET networks of the network service: the answer cannot be used: "+test.want)
			assert.Equal(t, cloud.Unavailable, cloud.KindOf(err))
			assert.Len(t, stub.calls(), test.requests)
		})
	}
}

func TestSession_LinksToAnotherHost(t *testing.T) {
	strangers := 0
	stranger := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { strangers++ }))
	defer stranger.Close()
	for name, serve := range map[string]http.HandlerFunc{
		"the next page": func(w http.ResponseWriter, req *http.Request) {
			if req.URL.Query().Has("marker") {
				reply(w, http.StatusOK, `{"networks": [{"id": "2"}]}`)
				return
			}
			pageAfter(w, `{"id": "1"}`, stranger.URL+"/network/v2.0/networks?marker=1")
		},
		"a redirection": func(w http.ResponseWriter, req *http.Request) {
			http.Redirect(w, req, stranger.URL+"/network/v2.0/networks", http.StatusTemporaryRedirect)
		},
	} {
		t.Run(name, func(t *testing.T) {
			_ = listNetworks(t.Context(), hostileSession(t, &stubCloud{serve: serve}, openstack.Options{}))
			assert.Zero(t, strangers, "the token stays with the cloud")
		})
	}
}

// slowBody is a response body that is sent byte by byte until its request ends.
type slowBody struct{ ended <-chan struct{} }

// Read implements io.Reader.
func (d slowBody) Read(into []byte) (int, error) {
	select {
	case <-d.ended:
		return 0, io.ErrUnexpectedEOF
	case <-time.After(time.Second):
		return copy(into, " "), nil
	}
}

// Close implements io.Closer.
func (slowBody) Close() error { return nil }

func TestSession_SlowResponse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stub, dripping := &stubCloud{}, 0
		sessions := openstack.NewSessions(openstack.Options{Transport: func(http.RoundTripper) http.RoundTripper {
			return roundTripper(func(req *http.Request) (*http.Response, error) {
				if req.Method == http.MethodPost {
					return stub.RoundTrip(req)
				}
				dripping++
				return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: slowBody{req.Context().Done()}, Request: req}, nil
			})
		}})
		session, err := sessions.Get(t.Context(), credentials(), "one")
		require.NoError(t, err)
		err = getRouter(t.Context(), session)
		require.ErrorContains(t, err, "no answer within 1m0s")
		assert.Equal(t, cloud.Unavailable, cloud.KindOf(err))
		assert.Equal(t, 4, dripping)
	})
}

func TestSession_LargeResponse(t *testing.T) {
	port := `{"id": "0c0bb58a-9d4a-4d4e-8d5e-1c1f5f6d7a00", "name": "shoot--project--name-pool-z1-5d5f9-abcde", "network_id": "2c0bb58a-9d4a-4d4e",
		"tenant_id": "3c0bb58a9d4a4d4e8d5e1c1f5f6d7a00", "mac_address": "fa:16:3e:58:42:ed", "admin_state_up": true, "status": "ACTIVE",
		"device_id": "4c0bb58a-9d4a-4d4e-8d5e-1c1f5f6d7a00", "device_owner": "compute:az1", "fixed_ips": [{"subnet_id": "5c0bb58a", "ip_address": "10.250.0.7"}],
		"allowed_address_pairs": [{"ip_address": "100.64.0.0/12", "mac_address": "fa:16:3e:58:42:ed"}], "extra_dhcp_opts": [],
		"security_groups": ["6c0bb58a-9d4a-4d4e-8d5e-1c1f5f6d7a00"], "description": "", "binding:vnic_type": "normal", "port_security_enabled": true,
		"qos_policy_id": null, "qos_network_policy_id": null, "tags": [], "created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-01T00:00:00Z",
		"revision_number": 4, "project_id": "3c0bb58a9d4a4d4e8d5e1c1f5f6d7a00"},`
	stub := &stubCloud{serve: repeatedBody(`{"ports": [`, port, 5000, `]}`)}
	ports, err := hostileSession(t, stub, openstack.Options{}).ListPorts(t.Context(), openstack.PortFilter{})
	require.NoError(t, err)
	assert.Len(t, ports, 5001)
}

// serverPages serves servers as Nova returns them to administrators, page by page, and counts the pages.
func serverPages(count, userData int, pages *int) http.HandlerFunc {
	return func(w http.ResponseWriter, req *http.Request) {
		*pages++
		query := req.URL.Query()
		limit, from := 1000, 0
		if asked, err := strconv.Atoi(query.Get("limit")); err == nil {
			limit = min(limit, asked)
		}
		if marker, err := strconv.Atoi(query.Get("marker")); err == nil {
			from = marker + 1
		}
		to, links := min(count, from+limit), ""
		if to == from+limit {
			query.Set("marker", strconv.Itoa(to-1))
			links = `, "servers_links": [{"rel": "next", "href": "https://cloud.test/servers/detail?` + query.Encode() + `"}]`
		}
		data := strings.Repeat("x", userData)
		_, _ = io.WriteString(w, `{"servers": [`)
		for i := from; i < to; i++ {
			_, _ = fmt.Fprintf(w, `%s{"id": "%d", "name": "machine-%d", "status": "ACTIVE", "metadata": {"role": "node"}, "OS-EXT-SRV-ATTR:user_data": "%s",
				"addresses": {"shoot": [{"addr": "10.250.0.1", "OS-EXT-IPS:type": "fixed"}]}}`, map[bool]string{true: ","}[i > from], i, i, data)
		}
		_, _ = io.WriteString(w, `]`+links+`}`)
	}
}

func TestSession_ListServers_WithUserData(t *testing.T) {
	for name, test := range map[string]struct{ servers, userData, pages int }{
		"no server":                                  {0, 0, 1},
		"fewer than a page has":                      {109, 20 << 10, 1},
		"as many as a page has":                      {110, 20 << 10, 2},
		"a page of the longest user data":            {110, 65535, 2},
		"five thousand, far more than a list may be": {5000, 20 << 10, 46},
	} {
		t.Run(name, func(t *testing.T) {
			pages := 0
			session := hostileSession(t, &stubCloud{serve: serverPages(test.servers, test.userData, &pages)}, openstack.Options{QPS: -1})
			found, err := session.ListServers(t.Context(), openstack.ServerFilter{NamePrefix: "machine-"})
			require.NoError(t, err)
			assert.Len(t, found, test.servers)
			assert.Equal(t, test.pages, pages)
		})
	}
	t.Run("what is kept of them is bounded all the same", func(t *testing.T) {
		stub := &stubCloud{serve: func(w http.ResponseWriter, req *http.Request) {
			page, _ := strconv.Atoi(req.URL.Query().Get("marker"))
			before := fmt.Sprintf(`{"servers_links": [{"rel": "next", "href": "https://cloud.test/?marker=%d"}], "servers": [{"metadata": {"a": "`, page+1)
			repeated(w, before, "x", 7<<20, `"}}]}`)
		}}
		_, err := hostileSession(t, stub, openstack.Options{QPS: -1}).ListServers(t.Context(), openstack.ServerFilter{})
		require.EqualError(t, err, "GET servers/detail of the compute service: the answer cannot be used: the list is longer than 33554432 bytes")
		assert.Len(t, stub.calls(), 5)
	})
}

func TestSession_SanitizedErrors(t *testing.T) {
	stub := &stubCloud{serve: func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Openstack-Request-Id", strings.Repeat("r", 5000))
		w.WriteHeader(http.StatusConflict)
		repeated(w, `{"NeutronError": {"type": "NetworkInUse", "message": "first\u001b[31m\nline\u202e `, "x", 900_000, `"}}`)
	}}
	err := hostileSession(t, stub, openstack.Options{}).DeleteNetwork(t.Context(), "n")
	assert.Equal(t, cloud.InUse, cloud.KindOf(err))
	var response *openstack.ResponseError
	require.ErrorAs(t, err, &response)
	assert.True(t, strings.HasPrefix(response.Message, "first [31m line  xxx"), response.Message)
	assert.LessOrEqual(t, len(response.Message), 1024)
	assert.Len(t, response.RequestID, 1024)
	assert.Less(t, len(err.Error()), 3000)

	stub.serve = repeatedBody(`{"server": {"id": "s", "fault": {"code": 500, "message": "`, "x", 900_000, `"}}}`)
	server, err := hostileSession(t, stub, openstack.Options{}).GetServer(t.Context(), "s")
	require.NoError(t, err)
	assert.Len(t, server.Fault.Message, 1024)

	stub.serve = repeatedBody(`{"router": {"id": 1`, "1", 900_000, `}}`)
	_, err = hostileSession(t, stub, openstack.Options{}).GetRouter(t.Context(), "r")
	assert.Equal(t, cloud.Unavailable, cloud.KindOf(err))
	assert.Less(t, len(err.Error()), 2000, "what is no ID is not quoted at length")
}

func TestSession_SecretsInErrors(t *testing.T) {
	echo := func(w http.ResponseWriter, secret string) {
		w.Header().Set("X-Openstack-Request-Id", "req-"+secret)
		reply(w, http.StatusBadRequest, `{"error": {"title": "Bad Request", "message": "'`+secret+`' is too short"}}`)
	}
	stub := &stubCloud{serve: func(w http.ResponseWriter, req *http.Request) { echo(w, req.Header.Get("X-Auth-Token")) }}
	err := hostileSession(t, stub, openstack.Options{}).DeleteNetwork(t.Context(), "n")
	require.EqualError(t, err, "DELETE networks/n answered 400 Bad Request: '[secret]' is too short (request req-[secret])")

	keystone := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { echo(w, "pa55word") }))
	defer keystone.Close()
	c := hostileCloud(t, stub)
	c.AuthURL = strings.Replace(keystone.URL, "://", "://admin:s3cret@", 1)
	_, err = openstack.NewSessions(openstack.Options{}).Get(t.Context(), c, "one")
	require.ErrorContains(t, err, "'[secret]' is too short")
	assert.NotContains(t, err.Error(), "pa55word")
	assert.NotContains(t, err.Error(), "s3cret")
}
