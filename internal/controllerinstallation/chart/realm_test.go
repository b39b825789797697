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

func TestPull_SendsCredentialsNowhereElse(t *testing.T) {
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
			registry.put(func(answer http.ResponseWriter, _ *http.Request, _ http.Handler) {
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
func TestPull_ChallengesThatReadersDisagreeAbout(t *testing.T) {
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
		registry.put(func(answer http.ResponseWriter, _ *http.Request, _ http.Handler) {
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

func TestCheckRealm_AllowsTokenServers(t *testing.T) {
	registry := httptest.NewRequest(http.MethodGet, "https://registry.example.org/v2/", nil).URL
	for _, realm := range []string{"https://registry.example.org/token", "https://auth.example.org:8443/token", "https://gitlab.com/jwt/auth"} {
		assert.NoError(t, checkRealm(realm, registry), realm)
	}
	registry.Host = "registry.garden.svc:5000"
	assert.NoError(t, checkRealm("https://registry.garden.svc/token", registry))
}
