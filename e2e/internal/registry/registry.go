// Package registry is an OCI registry on loopback for charts: over TLS with a self-signed certificate, with or without authentication, and with
// injected faults. It must not depend on clients or charts. Only this process can push.
package registry

import (
	"crypto/sha256"
	"crypto/tls"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"slices"
	"sync"

	"k8s.io/client-go/util/cert"
)

const (
	// ChartMediaType is the media type of a chart's layer, ConfigMediaType that of Helm's metadata.
	ChartMediaType  = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"
	ConfigMediaType = "application/vnd.cncf.helm.config.v1+json"

	manifestMediaType = "application/vnd.oci.image.manifest.v1+json"
)

// Registry is a running registry. Its methods may be called concurrently with requests.
type Registry struct {
	address string
	ca      []byte
	user, password,
	token string // handed out for the password, where tokens are asked for
	server *http.Server
	closed chan struct{} // closed by Close, for those that are kept waiting

	mutex     sync.Mutex
	blobs     map[string][]byte            // by digest
	manifests map[string]map[string][]byte // by repository, and tag or digest
	fault     Fault
	requests  []string
}

// Option configures a registry.
type Option func(*Registry)

// WithCredentials requires credentials.
func WithCredentials(user, password string) Option {
	return func(r *Registry) { r.user, r.password = user, password }
}

// WithTokens requires a token which the registry issues for the credentials, as public registries do.
func WithTokens(user, password string) Option {
	return func(r *Registry) { r.user, r.password, r.token = user, password, "token-of-"+user }
}

// Start starts an empty registry. Close ends it.
func Start(options ...Option) (*Registry, error) {
	r := &Registry{closed: make(chan struct{}), blobs: map[string][]byte{}, manifests: map[string]map[string][]byte{}}
	for _, option := range options {
		option(r)
	}
	certificate, key, err := cert.GenerateSelfSignedCertKey("127.0.0.1", nil, nil)
	if err != nil {
		return nil, fmt.Errorf("making the registry's certificate: %w", err)
	}
	pair, err := tls.X509KeyPair(certificate, key)
	if err != nil {
		return nil, fmt.Errorf("reading the registry's certificate: %w", err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("starting a registry: %w", err)
	}
	r.address, r.ca = listener.Addr().String(), certificate
	r.server = &http.Server{
		Handler:   http.HandlerFunc(r.serve),
		TLSConfig: &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12},
		ErrorLog:  log.New(io.Discard, "", 0), // of clients that don't trust the certificate
	}
	go func() { _ = r.server.ServeTLS(listener, "", "") }()
	return r, nil
}

// Close stops the registry and closes all connections.
func (r *Registry) Close() error {
	close(r.closed)
	if err := r.server.Close(); err != nil && !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("ending the registry: %w", err)
	}
	return nil
}

// Address is host:port, the beginning of references to charts.
func (r *Registry) Address() string { return r.address }

// CABundle is the registry's CA certificate, in PEM.
func (r *Registry) CABundle() []byte { return slices.Clone(r.ca) }

// DockerConfig is a .dockerconfigjson with the registry's credentials.
func (r *Registry) DockerConfig() []byte { return r.DockerConfigOf(r.user, r.password) }

// DockerConfigOf is one with other credentials.
func (r *Registry) DockerConfigOf(user, password string) []byte {
	auth := base64.StdEncoding.EncodeToString([]byte(user + ":" + password))
	return fmt.Appendf(nil, `{"auths":{%q:{"username":%q,"password":%q,"auth":%q}}}`, r.address, user, password, auth)
}

// Push stores the archive of a chart and returns the digest of its manifest. An existing tag is moved.
func (r *Registry) Push(repository, tag string, chart []byte) (digest string, err error) {
	return r.PushArtifact(repository, tag, ConfigMediaType, ChartMediaType, chart)
}

// PushArtifact stores an artifact with one layer and any media types.
func (r *Registry) PushArtifact(repository, tag, configMediaType, layerMediaType string, layer []byte) (digest string, err error) {
	config := []byte("{}")
	manifest, err := json.Marshal(map[string]any{
		"schemaVersion": 2, "mediaType": manifestMediaType,
		"config": descriptor(configMediaType, config),
		"layers": []any{descriptor(layerMediaType, layer)},
	})
	if err != nil {
		return "", fmt.Errorf("encoding the manifest of %s:%s: %w", repository, tag, err)
	}
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.blobs[digestOf(config)], r.blobs[digestOf(layer)] = config, slices.Clone(layer)
	if r.manifests[repository] == nil {
		r.manifests[repository] = map[string][]byte{}
	}
	digest = digestOf(manifest)
	r.manifests[repository][tag], r.manifests[repository][digest] = manifest, manifest
	return digest, nil
}

// Remove removes a tag or a digest.
func (r *Registry) Remove(repository, reference string) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	delete(r.manifests[repository], reference)
}

// Requests are all requests so far, as "GET /v2/...", answered or not.
func (r *Registry) Requests() []string {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return slices.Clone(r.requests)
}

func descriptor(mediaType string, content []byte) map[string]any {
	return map[string]any{"mediaType": mediaType, "digest": digestOf(content), "size": len(content)}
}

func digestOf(content []byte) string {
	sum := sha256.Sum256(content)
	return "sha256:" + hex.EncodeToString(sum[:])
}
