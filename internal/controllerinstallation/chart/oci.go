package chart

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"time"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"k8s.io/apimachinery/pkg/util/cache"
	"oras.land/oras-go/v2/content"
	"oras.land/oras-go/v2/registry"
	"oras.land/oras-go/v2/registry/remote"
	"oras.land/oras-go/v2/registry/remote/auth"

	"github.com/trellis-garden/trellis/internal/controllerinstallation/problem"
)

const (
	chartMediaType          = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"
	dockerManifestMediaType = "application/vnd.docker.distribution.manifest.v2+json"

	maxManifest = 1 << 20
	maxArchive  = 10 << 20

	defaultPullTimeout = 2 * time.Minute

	// Archives that are too large for a revision are not cached, so the cache has at most 32 MiB.
	maxCachedArchives    = 32
	maxCachedArchiveSize = 1 << 20
	cacheTTL             = time.Hour
)

// Artifact is a chart in an OCI registry that is served over HTTPS.
type Artifact struct {
	// Reference is registry/repository:tag or registry/repository@sha256:..., without "oci://".
	Reference string
	// DockerConfig is a .dockerconfigjson with credentials; empty means none. Of several entries for the registry, the one with the longest path that
	// is a prefix of the repository is used. Credential helpers are ignored.
	DockerConfig []byte
	// CABundle has the PEM-encoded CA certificates for the registry; empty means those of the system.
	CABundle []byte
}

// Pulled is a pulled chart.
type Pulled struct {
	// Archive must not be changed.
	Archive []byte
	// Digest is the digest of the manifest, which identifies the archive.
	Digest string
}

// Puller pulls charts. Its zero value is ready for concurrent use; it must not be copied.
type Puller struct {
	// Timeout bounds a pull; 0 means two minutes.
	Timeout time.Duration

	initOnce sync.Once
	// system is the transport with the CA certificates of the system; it keeps connections for a while.
	system *http.Transport
	// archives caches archives by repository and digest.
	archives *cache.LRUExpireCache
}

// Pull pulls a chart and verifies its digests. A transient failure (no connection, 429, 5xx, a deadline) is an ordinary error. A missing artifact,
// one without a chart, rejected credentials, an untrusted certificate, a malformed reference, docker config or bundle are a problem.Problem
// (OCIChartCannotBePulled) that names the cause. An artifact that was pulled before is returned without a request to the registry if it is given by
// digest.
func (p *Puller) Pull(ctx context.Context, artifact Artifact) (*Pulled, error) {
	p.initOnce.Do(func() {
		p.system, p.archives = newTransport(nil), cache.NewLRUExpireCache(maxCachedArchives)
	})
	reference, err := parseReference(artifact.Reference)
	if err != nil {
		return nil, err
	}
	credential, err := credentialFor(reference, artifact.DockerConfig)
	if err != nil {
		return nil, err
	}
	transport, release, err := p.transportFor(artifact)
	if err != nil {
		return nil, err
	}
	defer release()

	timeout := p.Timeout
	if timeout == 0 {
		timeout = defaultPullTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	pulled, err := p.pull(ctx, &remote.Repository{Reference: reference, MaxMetadataBytes: maxManifest, Client: &auth.Client{
		Client:     &http.Client{Transport: secureTransport{next: transport, registry: reference.Host()}, CheckRedirect: onlyHTTPS},
		Header:     http.Header{"User-Agent": {"trellis"}},
		Cache:      auth.NewCache(),
		Credential: auth.StaticCredential(reference.Registry, credential),
	}})
	if err != nil {
		return nil, explainPullError(reference, credential != auth.EmptyCredential, err)
	}
	return pulled, nil
}

func (p *Puller) pull(ctx context.Context, repository *remote.Repository) (*Pulled, error) {
	reference := repository.Reference
	if digest, err := reference.Digest(); err == nil {
		if archive := p.cachedArchive(reference, digest.String()); archive != nil {
			return &Pulled{Archive: archive, Digest: digest.String()}, nil
		}
	}
	descriptor, layer, err := resolve(ctx, repository)
	if err != nil {
		return nil, err
	}
	digest := descriptor.Digest.String()
	archive := p.cachedArchive(reference, digest)
	if archive == nil {
		if archive, err = fetch(ctx, repository, layer); err != nil {
			return nil, err
		}
		p.cacheArchive(reference, digest, archive)
	}
	return &Pulled{Archive: archive, Digest: digest}, nil
}

func parseReference(text string) (registry.Reference, error) {
	reference, err := registry.ParseReference(text)
	if err != nil {
		return reference, pullProblem(text, "%v", err)
	}
	if reference.Reference == "" {
		return reference, pullProblem(text, "invalid reference: neither a tag nor a digest")
	}
	return reference, nil
}

// resolve returns the descriptors of the manifest and of the chart in it.
func resolve(ctx context.Context, repository *remote.Repository) (manifest, layer ocispec.Descriptor, err error) {
	reference := repository.Reference
	manifest, body, err := repository.Manifests().FetchReference(ctx, reference.Reference)
	if err != nil {
		return manifest, layer, err
	}
	defer func() { _ = body.Close() }()
	if manifest.MediaType != ocispec.MediaTypeImageManifest && manifest.MediaType != dockerManifestMediaType {
		return manifest, layer, pullProblem(reference.String(), "it is no chart, but of media type %s", manifest.MediaType)
	}
	if manifest.Size > maxManifest {
		return manifest, layer, pullProblem(reference.String(), "it is no chart: its manifest has %d bytes", manifest.Size)
	}
	document, err := content.ReadAll(body, manifest)
	if err != nil {
		return manifest, layer, err
	}
	var decoded ocispec.Manifest
	if err := json.Unmarshal(document, &decoded); err != nil {
		return manifest, layer, pullProblem(reference.String(), "its manifest is malformed: %v", err)
	}
	layer, err = chartIn(reference, decoded)
	return manifest, layer, err
}

func chartIn(reference registry.Reference, manifest ocispec.Manifest) (ocispec.Descriptor, error) {
	for _, layer := range manifest.Layers {
		if layer.MediaType != chartMediaType {
			continue
		}
		if err := layer.Digest.Validate(); err != nil {
			return layer, pullProblem(reference.String(), "its manifest is malformed: digest %q: %v", layer.Digest, err)
		}
		if layer.Size < 0 || layer.Size > maxArchive {
			return layer, pullProblem(reference.String(), "its chart has %d bytes, but must not have more than %d", layer.Size, maxArchive)
		}
		return layer, nil
	}
	return ocispec.Descriptor{}, pullProblem(reference.String(), "it has no chart, that is, no layer of media type %s", chartMediaType)
}

func fetch(ctx context.Context, repository *remote.Repository, layer ocispec.Descriptor) ([]byte, error) {
	body, err := repository.Blobs().Fetch(ctx, layer)
	if err != nil {
		return nil, err
	}
	defer func() { _ = body.Close() }()
	return content.ReadAll(body, layer)
}

func (p *Puller) cachedArchive(reference registry.Reference, digest string) []byte {
	found, _ := p.archives.Get(cacheKey(reference, digest))
	archive, _ := found.([]byte)
	return archive
}

func (p *Puller) cacheArchive(reference registry.Reference, digest string, archive []byte) {
	if len(archive) <= maxCachedArchiveSize {
		p.archives.Add(cacheKey(reference, digest), archive, cacheTTL)
	}
}

func cacheKey(reference registry.Reference, digest string) string {
	return reference.Registry + "/" + reference.Repository + "@" + digest
}

func pullProblem(reference, format string, args ...any) error {
	return problem.New(problem.OCIChartCannotBePulled, "chart "+reference+" cannot be pulled: "+fmt.Sprintf(format, args...))
}
