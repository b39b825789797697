package registry

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net/http"
	"testing"
	"time"

	gardencorev1 "github.com/gardener/gardener/pkg/apis/core/v1"
	"github.com/gardener/gardener/pkg/utils/oci"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

// Gardener's client for charts works with the registry.
func TestRegistry_Pull(t *testing.T) {
	for description, tt := range map[string]struct {
		options []Option
		user    string // who pulls
		refused bool
	}{
		"by everybody":                              {},
		"by whom the registry knows":                {options: []Option{WithCredentials("user", "password")}, user: "user"},
		"by whom it gives a token":                  {options: []Option{WithTokens("user", "password")}, user: "user"},
		"by nobody else":                            {options: []Option{WithCredentials("user", "password")}, user: "somebody", refused: true},
		"by nobody else where it is about tokens":   {options: []Option{WithTokens("user", "password")}, user: "somebody", refused: true},
		"by nobody without credentials":             {options: []Option{WithCredentials("user", "password")}, refused: true},
		"by nobody without credentials for a token": {options: []Option{WithTokens("user", "password")}, refused: true},
	} {
		t.Run(description, func(t *testing.T) {
			r := start(t, tt.options...)
			_, err := r.Push("charts/one", "v1", []byte("old"))
			require.NoError(t, err)
			digest, err := r.Push("charts/one", "v1", []byte("new"))
			require.NoError(t, err)
			for _, reference := range []string{":v1", "@" + digest} {
				chart, err := pull(t, r, "charts/one"+reference, tt.user)
				if tt.refused {
					require.Error(t, err)
					assert.Regexp(t, "UNAUTHORIZED|401", err.Error())
					continue
				}
				require.NoError(t, err)
				assert.Equal(t, "new", string(chart))
			}
		})
	}
}

func TestRegistry_NotFound(t *testing.T) {
	r := start(t)
	_, err := r.Push("charts/gone", "v1", []byte("chart"))
	require.NoError(t, err)
	r.Remove("charts/gone", "v1")
	_, err = r.PushArtifact("charts/other", "v1", "application/vnd.example", "application/vnd.example.layer", []byte("no chart"))
	require.NoError(t, err)

	_, err = pull(t, r, "charts/gone:v1", "")
	require.ErrorContains(t, err, "MANIFEST_UNKNOWN")
	_, err = pull(t, r, "charts/unheard-of:v1", "")
	require.ErrorContains(t, err, "MANIFEST_UNKNOWN")
	_, err = pull(t, r, "charts/other:v1", "")
	require.Error(t, err, "no layer of it is a chart")
	assert.Contains(t, r.Requests(), "GET /v2/charts/unheard-of/manifests/v1")
}

func TestRegistry_SetFault(t *testing.T) {
	r := start(t)
	digest, err := r.Push("charts/one", "v1", []byte("chart"))
	require.NoError(t, err)
	manifest, blob := "/v2/charts/one/manifests/"+digest, "/v2/charts/one/blobs/"+digestOf([]byte("chart"))

	r.SetFault(Fault{Status: http.StatusServiceUnavailable})
	status, _ := get(t.Context(), t, r, manifest)
	assert.Equal(t, http.StatusServiceUnavailable, status)

	r.SetFault(Fault{Corrupt: true})
	status, content := get(t.Context(), t, r, blob)
	assert.Equal(t, http.StatusOK, status)
	assert.Len(t, content, len("chart"))
	assert.NotEqual(t, "chart", content)
	_, content = get(t.Context(), t, r, manifest)
	assert.Equal(t, digest, digestOf([]byte(content)), "manifests are whole")

	r.SetFault(Fault{Hang: true})
	shortCtx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	status, _ = get(shortCtx, t, r, blob)
	assert.Zero(t, status, "there is no answer")
	answered := make(chan string)
	go func() {
		_, content := get(t.Context(), t, r, blob)
		answered <- content
	}()
	r.ClearFault()
	assert.Equal(t, "chart", <-answered)
}

func start(t *testing.T, options ...Option) *Registry {
	t.Helper()
	r, err := Start(options...)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, r.Close()) })
	return r
}

// pull pulls as gardenlet does, with the registry's password.
func pull(t *testing.T, r *Registry, reference, user string) ([]byte, error) {
	t.Helper()
	secret := func(name, key string, content []byte) *corev1.Secret {
		return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "garden"}, Data: map[string][]byte{key: content}}
	}
	repository := &gardencorev1.OCIRepository{
		Ref: new(r.Address() + "/" + reference), CABundleSecretRef: &corev1.LocalObjectReference{Name: "trust"},
	}
	if user != "" {
		repository.PullSecretRef = &corev1.LocalObjectReference{Name: "credentials"}
	}
	garden := fake.NewClientBuilder().WithObjects(
		secret("trust", "bundle.crt", r.CABundle()),
		secret("credentials", corev1.DockerConfigJsonKey, r.DockerConfigOf(user, "password")),
	).Build()
	return oci.NewHelmRegistry(garden).Pull(t.Context(), repository)
}

// get returns status 0 if there is no response.
func get(ctx context.Context, t *testing.T, r *Registry, path string) (status int, content string) {
	t.Helper()
	pool := x509.NewCertPool()
	assert.True(t, pool.AppendCertsFromPEM(r.CABundle()))
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}}
	defer transport.CloseIdleConnections()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+r.Address()+path, nil)
	if !assert.NoError(t, err) {
		return 0, ""
	}
	response, err := (&http.Client{Transport: transport}).Do(request)
	if err != nil {
		return 0, ""
	}
	defer func() { assert.NoError(t, response.Body.Close()) }()
	body, err := io.ReadAll(response.Body)
	assert.NoError(t, err)
	return response.StatusCode, string(body)
}
