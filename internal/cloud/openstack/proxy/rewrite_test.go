package proxy_test

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/gophercloud/gophercloud/v2"
	sdk "github.com/gophercloud/gophercloud/v2/openstack"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/networks"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/cloud/openstack"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/proxy"
)

// startServerAndProxy starts a server that knows the answers to some paths, and a proxy that takes it for Keystone.
func startServerAndProxy(t *testing.T, answers map[string]http.HandlerFunc) (*httptest.Server, *proxy.Proxy) {
	t.Helper()
	mux := http.NewServeMux()
	for path, response := range answers {
		mux.HandleFunc(path, response)
	}
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server, startProxy(t, server.URL+"/v3")
}

// document answers with JSON in which HOST stands for the server's own address.
func document(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		_, _ = fmt.Fprint(w, strings.ReplaceAll(text, "HOST", r.Host))
	}
}

// urls collects the endpoints of a catalog, as "type region interface url".
func urls(t *testing.T, p *proxy.Proxy, body string) []string {
	t.Helper()
	var document struct {
		Catalog []struct {
			Type      string
			Endpoints []struct{ Region, Interface, URL string }
		}
	}
	require.NoError(t, json.Unmarshal([]byte(body), &document))
	var all []string
	for _, entry := range document.Catalog {
		for _, e := range entry.Endpoints {
			all = append(all, strings.Join([]string{entry.Type, e.Region, e.Interface, strings.ReplaceAll(e.URL, p.URL(), "PROXY")}, " "))
		}
	}
	slices.Sort(all)
	return all
}

func TestProxy_RewritesCatalog(t *testing.T) {
	endpoint := func(region, face, url string) string {
		return fmt.Sprintf(`{"id":"e","region":%q,"region_id":%q,"interface":%q,"url":%q}`, region, region, face, url)
	}
	entry := func(kind string, endpoints ...string) string {
		return fmt.Sprintf(`{"id":"s","type":%q,"name":"n","endpoints":[%s]}`, kind, strings.Join(endpoints, ","))
	}
	catalog := strings.Join([]string{
		entry("identity", endpoint("a", "public", "http://HOST/v3"), endpoint("a", "admin", "http://keystone:35357/v3")),
		entry("network", endpoint("a", "public", "http://neutron.a:9696"), endpoint("a", "internal", "http://10.0.0.1:9696"), endpoint("b", "public", "http://neutron.b:9696/")),
		entry("compute", endpoint("a", "public", "https://cloud:443/compute/v2.1"), endpoint("a", "internal", "https://cloud/compute/v2.1/")),
		entry("volumev2", endpoint("a", "public", "http://cinder:8776/v2/f00d")),
		entry("volumev3", endpoint("a", "public", "http://cinder:8776/v3/f00d")),
		entry("placement", endpoint("a", "public", "http://placement:8778")),
		entry("image", endpoint("a", "public", "nowhere")),
		entry("load-balancer"),
	}, ",")
	_, p := startServerAndProxy(t, map[string]http.HandlerFunc{
		"/v3/auth/catalog": document(`{"catalog":[` + catalog + `],"links":{"self":"http://HOST/v3/auth/catalog"}}`),
	})
	_, body := send(t, p, "t", http.MethodGet, "/identity/v3/auth/catalog", "")
	require.Equal(t, []string{
		"compute a internal PROXY/compute/v2.1/",
		"compute a public PROXY/compute/v2.1",
		"identity a admin PROXY/identity-2/v3",
		"identity a public PROXY/identity/v3",
		"image a public nowhere",
		"network a internal PROXY/network-2",
		"network a public PROXY/network",
		"network b public PROXY/network-3/",
		"placement a public http://placement:8778",
		"volumev2 a public PROXY/volume/v2/f00d",
		"volumev3 a public PROXY/volume/v3/f00d",
	}, urls(t, p, body))
	require.Contains(t, body, `"links":{"self":"`+p.URL()+`/identity/v3/auth/catalog"}`)
	_, again := send(t, p, "t", http.MethodGet, "/identity/v3/auth/catalog", "")
	require.Equal(t, body, again)
}

func TestProxy_RewritesCatalog_TwoRegions(t *testing.T) {
	region := func(name string) *httptest.Server {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = fmt.Fprint(w, name+r.URL.Path) }))
		t.Cleanup(s.Close)
		return s
	}
	a, b := region("a"), region("b")
	_, p := startServerAndProxy(t, map[string]http.HandlerFunc{"/v3/auth/tokens": document(`{"token":{"catalog":[{"type":"network","endpoints":[
		{"interface":"public","region":"a","url":"` + a.URL + `"},{"interface":"public","region":"b","url":"` + b.URL + `/networking"}]}]}}`)})
	send(t, p, "", http.MethodPost, "/identity/v3/auth/tokens", "{}")
	_, body := send(t, p, "t", http.MethodGet, "/network/v2.0/networks", "")
	require.Equal(t, "a/v2.0/networks", body)
	_, body = send(t, p, "t", http.MethodGet, "/network-2/v2.0/networks/1", "")
	require.Equal(t, "b/networking/v2.0/networks/1", body)
	require.Equal(t, map[string]int{
		"keystone POST /v3/auth/tokens": 1, "neutron GET /v2.0/networks": 1, "neutron GET /v2.0/networks/{id}": 1,
	}, p.Log().Count())
}

func TestProxy_RewritesLinks(t *testing.T) {
	for name, test := range map[string]struct{ given, want string }{
		"of a version":                {`{"version":{"links":[{"rel":"self","href":"http://HOST/v3/"}]}}`, `{"version":{"links":[{"href":"PROXY/identity/v3/","rel":"self"}]}}`},
		"to the next page":            {`{"links":{"next":"http://HOST/v3/users?marker=1&limit=2","previous":null}}`, `{"links":{"next":"PROXY/identity/v3/users?marker=1&limit=2","previous":null}}`},
		"with another scheme":         {`{"href":"https://HOST/v3"}`, `{"href":"PROXY/identity/v3"}`},
		"but nothing that is no link": {`{"description": "http://HOST/v3"}`, `{"description": "http://HOST/v3"}`},
		"but none to elsewhere":       {`{"href": "http://docs.openstack.org/"}`, `{"href": "http://docs.openstack.org/"}`},
		"but none within the service": {`{"next": "/v2/images?marker=1"}`, `{"next": "/v2/images?marker=1"}`},
		"and numbers stay as they are": {
			`{"self":"http://HOST","n":12345678901234567890,"f":1.10,"s":"<&>"}`,
			`{"f":1.10,"n":12345678901234567890,"s":"<&>","self":"PROXY/identity"}`,
		},
		"and what is no JSON stays": {`{"href":"http://HOST/v3"`, `{"href":"http://HOST/v3"`},
		"nor two documents in one":  {`{"href":"http://HOST/v3"} {}`, `{"href":"http://HOST/v3"} {}`},
	} {
		t.Run(name, func(t *testing.T) {
			server, p := startServerAndProxy(t, map[string]http.HandlerFunc{"/v3": document(test.given)})
			_, body := send(t, p, "", http.MethodGet, "/identity/v3", "")
			host := strings.TrimPrefix(server.URL, "http://")
			require.Equal(t, strings.NewReplacer("HOST", host, "PROXY", p.URL()).Replace(test.want), body)
		})
	}
}

func TestProxy_RewritesHeaders(t *testing.T) {
	server, p := startServerAndProxy(t, map[string]http.HandlerFunc{
		"/": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Location", r.URL.Query().Get("location"))
			w.Header().Add("WWW-Authenticate", `Keystone uri="http://`+r.Host+`/v3"`)
			w.Header().Add("WWW-Authenticate", `Keystone uri='http://elsewhere/v3'`)
			w.Header().Set("Keep-Alive", "timeout=5")
			w.Header().Set("X-Seen", fmt.Sprint(r.Header))
			w.WriteHeader(http.StatusMovedPermanently)
		},
	})
	for given, want := range map[string]string{
		server.URL + "/v3/": p.URL() + "/identity/v3/",
		"/v3/users?a=b":     p.URL() + "/identity/v3/users?a=b",
		"http://elsewhere/": "http://elsewhere/",
		"":                  "",
	} {
		response, _ := send(t, p, "secret", http.MethodGet, "/identity/v3?location="+given, "")
		require.Equal(t, http.StatusMovedPermanently, response.StatusCode)
		require.Equal(t, want, response.Header.Get("Location"))
		require.Equal(t, []string{`Keystone uri="` + p.URL() + `/identity/v3"`, `Keystone uri='http://elsewhere/v3'`}, response.Header.Values("WWW-Authenticate"))
		require.Empty(t, response.Header.Get("Keep-Alive"))
		require.Contains(t, response.Header.Get("X-Seen"), "X-Auth-Token:[secret]")
		require.NotContains(t, response.Header.Get("X-Seen"), "Accept-Encoding")
	}
}

func TestProxy_Pagination(t *testing.T) {
	c, p := startProxiedCloud(t, fake.WithPageSize(2))
	for range 5 {
		_, err := c.CreateResource(fake.DefaultProject, "networks", fake.Attrs{"name": "n"})
		require.NoError(t, err)
	}
	provider, err := sdk.AuthenticatedClient(t.Context(), gophercloud.AuthOptions{
		IdentityEndpoint: p.AuthURL(), Username: fake.DefaultUser, Password: fake.DefaultPassword,
		DomainName: fake.DefaultDomain, TenantName: fake.DefaultProject,
	})
	require.NoError(t, err)
	client, err := sdk.NewNetworkV2(provider, gophercloud.EndpointOpts{Region: fake.DefaultRegion})
	require.NoError(t, err)
	pages, err := networks.List(client, networks.ListOpts{Name: "n"}).AllPages(t.Context())
	require.NoError(t, err)
	found, err := networks.ExtractNetworks(pages)
	require.NoError(t, err)
	require.Len(t, found, 5)
	require.Equal(t, 3, p.Log().Count()["neutron GET /v2.0/networks"])
	require.Equal(t, c.Log().String(), p.Log().String(), "no page was asked for past the proxy")
}

func TestWithTLS(t *testing.T) {
	c := fake.New()
	server := httptest.NewUnstartedServer(c.Handler())
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	t.Cleanup(server.Close)
	trusted := x509.NewCertPool()
	trusted.AddCert(server.Certificate())

	p := startProxy(t, server.URL+"/identity/v3", proxy.WithTLS(&tls.Config{RootCAs: trusted}))
	s := logInto(t, p)
	_, err := s.CreateNetwork(t.Context(), openstack.NetworkCreate{Name: "n"})
	require.NoError(t, err)
	require.Equal(t, 1, countNetworks(c))
	require.Equal(t, c.Log().String(), p.Log().String())

	stranger := startProxy(t, server.URL+"/identity/v3")
	response, body := send(t, stranger, "", http.MethodGet, "/identity/v3", "")
	require.Equal(t, http.StatusBadGateway, response.StatusCode)
	require.Contains(t, body, "certificate")
}
