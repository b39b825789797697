package chart

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/controllerinstallation/problem"
)

func TestPull_ForbiddenRealm(t *testing.T) {
	registry := newRegistry(t)
	registry.push(t, "example", "good", []byte("archive"))
	var requests atomic.Int32
	listener := http.HandlerFunc(func(answer http.ResponseWriter, _ *http.Request) {
		requests.Add(1)
		_, _ = answer.Write([]byte(`{"token":"token"}`))
	})
	plain, other := httptest.NewServer(listener), httptest.NewUnstartedServer(listener)
	other.TLS = registry.TLS.Clone() // so that a connection would be trusted
	other.StartTLS()
	t.Cleanup(plain.Close)
	t.Cleanup(other.Close)

	const notSecure, notPublic = "but credentials are only sent over HTTPS", "which is neither the registry's own host nor one with a public name"
	for name, test := range map[string]struct{ challenge, realm, reason string }{
		"plain HTTP":                    {`Bearer realm="%s",service="a"`, plain.URL + "/token", notSecure},
		"plain HTTP, without quotes":    {`bearer service="a", realm=%s`, plain.URL + "/token", notSecure},
		"another protocol":              {`Bearer realm="%s"`, "ftp://registry.example.org/token", notSecure},
		"a host of the own machine":     {`Bearer realm="%s"`, strings.Replace(other.URL, "127.0.0.1", "localhost", 1) + "/token", notPublic},
		"an address of the own network": {`Bearer realm="%s"`, "https://10.0.0.1/token", notPublic},
		"a service of the own cluster":  {`Bearer realm="%s"`, "https://vault.garden.svc/token", notPublic},
		"a name of the own network":     {`Bearer realm="%s"`, "https://vault/token", notPublic},
		"no URL":                        {`Bearer realm="%s"`, "https://%zz", "which is no URL"},
	} {
		t.Run(name, func(t *testing.T) {
			registry.intercept(func(answer http.ResponseWriter, _ *http.Request, _ http.Handler) {
				answer.Header().Set("Www-Authenticate", strings.Replace(test.challenge, "%s", test.realm, 1))
				answer.WriteHeader(http.StatusUnauthorized)
			})
			artifact := registry.artifact("example:good")
			artifact.DockerConfig = []byte(`{"auths":{"` + registry.host() + `":{"username":"user","password":"hunter2"}}}`)
			_, err := (&Puller{}).Pull(t.Context(), artifact)
			assertProblem(t, err, problem.OCIChartCannotBePulled,
				"chart "+artifact.Reference+` cannot be pulled: the registry sends for a token to "`+test.realm+`", `+test.reason)
		})
	}
	assert.Zero(t, requests.Load(), "nobody else is asked")
}

// However a header is read, no request goes where credentials don't belong.
func TestPull_AmbiguousChallenge(t *testing.T) {
	registry := newRegistry(t)
	registry.push(t, "example", "good", []byte("archive"))
	var requests atomic.Int32
	transport := secureTransport{registry: registry.host(), next: roundTripper(func(request *http.Request) (*http.Response, error) {
		if request.URL.Hostname() == "localhost" {
			requests.Add(1)
		}
		return http.DefaultTransport.RoundTrip(request)
	})}
	for _, request := range []*http.Request{
		{Method: http.MethodGet, URL: &url.URL{Scheme: "https", Host: "localhost:1", Path: "/token"}, Header: http.Header{}},
		{Method: http.MethodGet, URL: &url.URL{Scheme: "https", Host: "localhost:1", Path: "/token"}, Header: http.Header{"Authorization": {"Basic x"}}, Response: &http.Response{}},
	} {
		_, err := transport.RoundTrip(request.WithContext(t.Context()))
		assert.ErrorContains(t, err, "which is neither the registry's own host nor one with a public name")
	}
	for _, challenge := range []string{
		`Bearer xrealm="https://auth.example.org/t",realm="https://localhost:1/token"`, `Bearer service="realm=https://auth.example.org",realm="https://localhost:1/token"`,
		`Bearer realm ="https://localhost:1/token"`, "Bearer\trealm=\"https://localhost:1/token\"", `Bearer realm="https://auth.example.org/t",realm="https://localhost:1/token"`,
	} {
		registry.intercept(func(answer http.ResponseWriter, _ *http.Request, _ http.Handler) {
			answer.Header().Set("Www-Authenticate", challenge)
			answer.WriteHeader(http.StatusUnauthorized)
		})
		artifact := registry.artifact("example:good")
		artifact.DockerConfig = []byte(`{"auths":{"` + registry.host() + `":{"username":"user","password":"hunter2"}}}`)
		_, err := (&Puller{}).Pull(t.Context(), artifact)
		require.Error(t, err, challenge)
		assert.NotContains(t, err.Error(), "connection refused", "%s: nobody is asked", challenge)
	}
	assert.Zero(t, requests.Load())
}

type roundTripper func(*http.Request) (*http.Response, error)

func (r roundTripper) RoundTrip(request *http.Request) (*http.Response, error) { return r(request) }

func TestCheckRealm(t *testing.T) {
	const notPublic, notNear = "which is neither the registry's own host nor one with a public name", "which is in the operator's own cluster or machine, and the registry is not"
	for sentence, test := range map[string]struct{ registry, realm, refusal string }{
		"its own host":                                  {"registry.example.org", "https://registry.example.org/token", ""},
		"its own host, written otherwise":               {"registry.example.org", "https://Registry.example.org.:443/token", ""},
		"its own host, in the cluster":                  {"registry.garden.svc:5000", "https://registry.garden.svc/token", ""},
		"another port":                                  {"registry.example.org", "https://auth.example.org:8443/token", ""},
		"another public host":                           {"registry.example.org", "https://gitlab.com/jwt/auth", ""},
		"on premises, a GitLab beside it":               {"registry.corp.local", "https://gitlab.corp.local/jwt/auth", ""},
		"on premises, another domain":                   {"registry.corp.local:5000", "https://login.other.internal/token", ""},
		"on premises, a public host":                    {"registry.corp.internal", "https://login.example.org/token", ""},
		"on premises, an address":                       {"registry.corp.internal", "https://10.1.2.3/token", ""},
		"a private address to another":                  {"10.0.0.1:5000", "https://10.0.0.2/token", ""},
		"a private address of IPv6 to another":          {"[fd00::1]:5000", "https://[fd00::2]/token", ""},
		"a private address to a local name":             {"192.168.1.1", "https://gitlab.corp.local/jwt/auth", ""},
		"a public address to another":                   {"203.0.113.1", "https://203.0.113.2/token", ""},
		"a Service to another":                          {"registry.garden.svc", "https://auth.garden.svc.cluster.local/token", ""},
		"a Service to a private network":                {"registry.garden.svc", "https://gitlab.corp.local/jwt/auth", ""},
		"a public host to a local name":                 {"registry.example.org", "https://gitlab.corp.local/jwt/auth", notPublic},
		"a public host to a private address":            {"registry.example.org", "https://192.168.1.1/token", notPublic},
		"a public host to an address":                   {"registry.example.org", "https://203.0.113.2/token", notPublic},
		"a public host to a Service":                    {"registry.example.org", "https://vault.garden.svc/token", notPublic},
		"a public address to a private one":             {"203.0.113.1", "https://10.0.0.1/token", notPublic},
		"a public address to a local name":              {"203.0.113.1", "https://gitlab.corp.local/jwt/auth", notPublic},
		"on premises, a Service":                        {"registry.corp.local", "https://kubernetes.default.svc/token", notNear},
		"on premises, a Service by its whole name":      {"registry.corp.local", "https://vault.garden.svc.cluster.local/token", notNear},
		"on premises, a name without a domain":          {"registry.corp.local", "https://vault/token", notNear},
		"on premises, the operator's machine":           {"registry.corp.local", "https://localhost/token", notNear},
		"a private address to the operator's machine":   {"10.0.0.1", "https://127.0.0.1/token", notNear},
		"a private address to the machine, in IPv6":     {"10.0.0.1", "https://[::ffff:127.0.0.1]/token", notNear},
		"a private address to the machine, in short":    {"10.0.0.1", "https://127.1/token", notNear},
		"a private address to a cloud's metadata":       {"10.0.0.1", "https://169.254.169.254/token", notNear},
		"a Service to the operator's machine":           {"registry.garden.svc", "https://[::1]/token", notPublic},
		"another host on the operator's machine itself": {"127.0.0.1:5000", "https://localhost/token", notPublic},
	} {
		t.Run(sentence, func(t *testing.T) {
			err := checkRealm(test.realm, &url.URL{Host: test.registry})
			if test.refusal == "" {
				assert.NoError(t, err)
				return
			}
			assert.ErrorContains(t, err, test.refusal)
		})
	}
}
