package chart

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/pem"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/opencontainers/image-spec/specs-go"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"github.com/stretchr/testify/require"
	"oras.land/oras-go/v2/content"
	"oras.land/oras-go/v2/registry/remote"
)

// testRegistry is a registry behind HTTPS, with something in between if need be.
type testRegistry struct {
	*httptest.Server
	registry http.Handler

	mutex    sync.Mutex
	requests []*http.Request
	open     map[net.Conn]struct{}
	// interceptor answers instead of the registry, or hands on.
	interceptor func(answer http.ResponseWriter, request *http.Request, registry http.Handler)
}

func newRegistry(t *testing.T) *testRegistry {
	t.Helper()
	r := &testRegistry{registry: registry.New(registry.Logger(log.New(io.Discard, "", 0))), open: map[net.Conn]struct{}{}}
	r.Server = httptest.NewUnstartedServer(http.HandlerFunc(r.serve))
	r.Config.ErrorLog = log.New(io.Discard, "", 0)
	r.Config.ConnState = func(connection net.Conn, state http.ConnState) {
		r.mutex.Lock()
		defer r.mutex.Unlock()
		switch state {
		case http.StateNew:
			r.open[connection] = struct{}{}
		case http.StateClosed, http.StateHijacked:
			delete(r.open, connection)
		default:
		}
	}
	r.StartTLS()
	t.Cleanup(r.Close)
	return r
}

func (r *testRegistry) serve(answer http.ResponseWriter, request *http.Request) {
	r.mutex.Lock()
	r.requests = append(r.requests, request)
	between := r.interceptor
	r.mutex.Unlock()
	if between == nil {
		r.registry.ServeHTTP(answer, request)
		return
	}
	between(answer, request, r.registry)
}

func (r *testRegistry) intercept(between func(http.ResponseWriter, *http.Request, http.Handler)) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.interceptor = between
}

// respondWith makes the registry answer everything with a status.
func (r *testRegistry) respondWith(status int, body string) {
	r.intercept(func(answer http.ResponseWriter, _ *http.Request, _ http.Handler) {
		answer.WriteHeader(status)
		_, _ = io.WriteString(answer, body)
	})
}

// takeRequestLines returns what was asked for since the last time.
func (r *testRegistry) takeRequestLines() []string {
	var lines []string
	for _, request := range r.takeRequests() {
		lines = append(lines, request.Method+" "+request.URL.Path)
	}
	return lines
}

func (r *testRegistry) takeRequests() []*http.Request {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	requests := r.requests
	r.requests = nil
	return requests
}

func (r *testRegistry) connections() int {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return len(r.open)
}

func (r *testRegistry) host() string { return strings.TrimPrefix(r.URL, "https://") }

func (r *testRegistry) bundle() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: r.Certificate().Raw})
}

// artifact refers to what is in the registry; reference is what follows its host.
func (r *testRegistry) artifact(reference string) Artifact {
	return Artifact{Reference: r.host() + "/" + reference, CABundle: r.bundle()}
}

// push puts a chart as Helm would, and returns the digest of the manifest.
func (r *testRegistry) push(t *testing.T, repository, tag string, archive []byte) string {
	t.Helper()
	to := r.repository(t, repository)
	config := []byte(`{"name":"example"}`)
	require.NoError(t, to.Blobs().Push(t.Context(), content.NewDescriptorFromBytes("application/vnd.cncf.helm.config.v1+json", config), bytes.NewReader(config)))
	require.NoError(t, to.Blobs().Push(t.Context(), content.NewDescriptorFromBytes(chartMediaType, archive), bytes.NewReader(archive)))
	return r.pushManifest(t, repository, tag, ocispec.MediaTypeImageManifest, ocispec.Manifest{
		Versioned: specs.Versioned{SchemaVersion: 2}, MediaType: ocispec.MediaTypeImageManifest,
		Config: content.NewDescriptorFromBytes("application/vnd.cncf.helm.config.v1+json", config),
		Layers: []ocispec.Descriptor{content.NewDescriptorFromBytes("application/vnd.cncf.helm.chart.provenance.v1.prov", config), content.NewDescriptorFromBytes(chartMediaType, archive)},
	})
}

// pushManifest does not care for what the manifest refers to.
func (r *testRegistry) pushManifest(t *testing.T, repository, tag, mediaType string, manifest any) string {
	t.Helper()
	document, isRaw := manifest.([]byte)
	if !isRaw {
		var err error
		document, err = json.Marshal(manifest)
		require.NoError(t, err)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPut, r.URL+"/v2/"+repository+"/manifests/"+tag, bytes.NewReader(document))
	require.NoError(t, err)
	request.Header.Set("Content-Type", mediaType)
	answer, err := r.Client().Do(request)
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	require.Equal(t, http.StatusCreated, answer.StatusCode)
	r.takeRequests()
	return content.NewDescriptorFromBytes(mediaType, document).Digest.String()
}

func (r *testRegistry) repository(t *testing.T, name string) *remote.Repository {
	t.Helper()
	repository, err := remote.NewRepository(r.host() + "/" + name)
	require.NoError(t, err)
	repository.Client = r.Client()
	return repository
}

func isBlob(request *http.Request) bool { return strings.Contains(request.URL.Path, "/blobs/") }

// requireBasic lets those pass who say who they are, and asks the others.
func (r *testRegistry) requireBasic(user, password string) {
	r.intercept(func(answer http.ResponseWriter, request *http.Request, registry http.Handler) {
		if gotUser, gotPassword, _ := request.BasicAuth(); gotUser == user && gotPassword == password {
			registry.ServeHTTP(answer, request)
			return
		}
		answer.Header().Set("Www-Authenticate", `Basic realm="test"`)
		answer.WriteHeader(http.StatusUnauthorized)
		_, _ = io.WriteString(answer, `{"errors":[{"code":"UNAUTHORIZED","message":"who are you?"}]}`)
	})
}

// requireBearer sends everybody to /token first, and lets those pass who come back with the token that grant gives out.
func (r *testRegistry) requireBearer(grant func(answer http.ResponseWriter, request *http.Request) (token string)) {
	var mutex sync.Mutex
	var granted []string
	r.intercept(func(answer http.ResponseWriter, request *http.Request, registry http.Handler) {
		mutex.Lock()
		defer mutex.Unlock()
		token, _ := strings.CutPrefix(request.Header.Get("Authorization"), "Bearer ")
		switch {
		case request.URL.Path == "/token":
			if token := grant(answer, request); token != "" {
				granted = append(granted, token)
				_, _ = io.WriteString(answer, `{"token":"`+token+`","access_token":"`+token+`"}`)
			}
		case slices.Contains(granted, token):
			registry.ServeHTTP(answer, request)
		default:
			answer.Header().Set("Www-Authenticate", `Bearer realm="`+r.URL+`/token",service="test"`)
			answer.WriteHeader(http.StatusUnauthorized)
		}
	})
}

// mustPull pulls what must be there. The deadline is for a test that hangs.
func mustPull(t *testing.T, puller *Puller, artifact Artifact) *Pulled {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	found, err := puller.Pull(ctx, artifact)
	require.NoError(t, err)
	return found
}
