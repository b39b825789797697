package chart

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"github.com/stretchr/testify/assert"
	"oras.land/oras-go/v2/content"

	"github.com/trellis-garden/trellis/internal/controllerinstallation/problem"
)

func TestPull(t *testing.T) {
	registry := newRegistry(t)
	archive := pack(t, fullChart())
	digest := registry.push(t, "charts/example", "0.1.0", archive)

	for name, reference := range map[string]string{
		"by tag":            "charts/example:0.1.0",
		"by digest":         "charts/example@" + digest,
		"by tag and digest": "charts/example:another@" + digest,
	} {
		t.Run(name, func(t *testing.T) {
			found := mustPull(t, &Puller{}, registry.artifact(reference))
			assert.Equal(t, digest, found.Digest)
			assert.Equal(t, archive, found.Archive)
			_, err := Load(found.Archive)
			assert.NoError(t, err)
		})
	}
}

func TestPull_DockerManifest(t *testing.T) {
	registry := newRegistry(t)
	archive := pack(t, nil)
	registry.push(t, "example", "oci", archive)
	registry.pushManifest(t, "example", "docker", dockerManifestMediaType, map[string]any{
		"schemaVersion": 2, "mediaType": dockerManifestMediaType, "layers": []ocispec.Descriptor{content.NewDescriptorFromBytes(chartMediaType, archive)},
	})
	assert.Equal(t, archive, mustPull(t, &Puller{}, registry.artifact("example:docker")).Archive)
}

func TestPull_Cached(t *testing.T) {
	registry := newRegistry(t)
	digest := registry.push(t, "charts/example", "latest", []byte("one"))
	puller := &Puller{}
	manifest, blob := "GET /v2/charts/example/manifests/latest", "GET /v2/charts/example/blobs/"+content.NewDescriptorFromBytes("", []byte("one")).Digest.String()

	assert.Equal(t, "one", string(mustPull(t, puller, registry.artifact("charts/example:latest")).Archive))
	assert.Equal(t, []string{manifest, blob}, registry.takeRequestLines())
	assert.Equal(t, "one", string(mustPull(t, puller, registry.artifact("charts/example:latest")).Archive))
	assert.Equal(t, []string{manifest}, registry.takeRequestLines(), "a tag may have moved, what it named has not changed")
	assert.Equal(t, "one", string(mustPull(t, puller, registry.artifact("charts/example@"+digest)).Archive))
	assert.Empty(t, registry.takeRequestLines(), "a digest needs no question")

	moved := registry.push(t, "charts/example", "latest", []byte("two"))
	found := mustPull(t, puller, registry.artifact("charts/example:latest"))
	assert.Equal(t, Pulled{Archive: []byte("two"), Digest: moved}, *found)

	registry.push(t, "charts/other", "latest", []byte("one"))
	registry.takeRequests()
	_, err := puller.Pull(t.Context(), registry.artifact("charts/unknown@"+digest))
	assertProblem(t, err, problem.OCIChartCannotBePulled,
		"chart "+registry.host()+"/charts/unknown@"+digest+" cannot be pulled: the registry does not have it")
	assert.Len(t, registry.takeRequestLines(), 1, "another repository is another matter")
}

func TestPull_CacheLimits(t *testing.T) {
	registry := newRegistry(t)
	puller := &Puller{}
	for i := range maxCachedArchives + 8 {
		registry.push(t, "example", fmt.Sprint(i), fmt.Appendf(nil, "archive %d", i))
		mustPull(t, puller, registry.artifact(fmt.Sprintf("example:%d", i)))
	}
	assert.Len(t, puller.archives.Keys(), maxCachedArchives)

	large := bytes.Repeat([]byte("x"), maxCachedArchiveSize+1)
	digest := registry.push(t, "example", "large", large)
	for range 2 {
		registry.takeRequests()
		assert.Equal(t, large, mustPull(t, puller, registry.artifact("example@"+digest)).Archive)
		assert.Len(t, registry.takeRequestLines(), 2)
	}
}

func TestPull_Problems(t *testing.T) {
	registry := newRegistry(t)
	registry.push(t, "example", "good", []byte("archive"))
	layers := func(layers ...ocispec.Descriptor) map[string]any {
		return map[string]any{"schemaVersion": 2, "mediaType": ocispec.MediaTypeImageManifest, "layers": layers}
	}
	oci := ocispec.MediaTypeImageManifest
	registry.pushManifest(t, "example", "image", oci, layers(content.NewDescriptorFromBytes(ocispec.MediaTypeImageLayerGzip, []byte("archive"))))
	registry.pushManifest(t, "example", "empty", oci, layers())
	registry.pushManifest(t, "example", "dangling", oci, layers(content.NewDescriptorFromBytes(chartMediaType, []byte("lost"))))
	registry.pushManifest(t, "example", "large", oci, layers(ocispec.Descriptor{
		MediaType: chartMediaType, Digest: content.NewDescriptorFromBytes("", nil).Digest, Size: maxArchive + 1,
	}))
	registry.pushManifest(t, "example", "negative", oci, layers(ocispec.Descriptor{MediaType: chartMediaType, Digest: content.NewDescriptorFromBytes("", nil).Digest, Size: -1}))
	registry.pushManifest(t, "example", "undigested", oci, layers(ocispec.Descriptor{MediaType: chartMediaType, Digest: "sha256:short", Size: 1}))
	registry.pushManifest(t, "example", "list", oci, []byte(`["a"]`))
	registry.pushManifest(t, "example", "index", ocispec.MediaTypeImageIndex, map[string]any{"schemaVersion": 2, "manifests": []any{}})
	registry.pushManifest(t, "example", "huge", oci, append([]byte(`{"schemaVersion": 2}`), bytes.Repeat([]byte(" "), maxManifest)...))

	const absent = "sha256:0000000000000000000000000000000000000000000000000000000000000000"
	for name, test := range map[string]struct{ reference, message string }{
		"a tag that is not there":        {"example:other", "the registry does not have it"},
		"a digest that is not there":     {"example@" + absent, "the registry does not have it"},
		"a repository that is not there": {"other:good", "the registry does not have it"},
		"a chart that is not there":      {"example:dangling", "the registry does not have it"},
		"an image":                       {"example:image", "it has no chart, that is, no layer of media type " + chartMediaType},
		"a manifest without layers":      {"example:empty", "it has no chart, that is, no layer of media type " + chartMediaType},
		"an index":                       {"example:index", "it is no chart, but of media type application/vnd.oci.image.index.v1+json"},
		"a chart that is too large":      {"example:large", "its chart has 10485761 bytes, but must not have more than 10485760"},
		"a size below nothing":           {"example:negative", "its chart has -1 bytes, but must not have more than 10485760"},
		"a digest that is none":          {"example:undigested", `its manifest is malformed: digest "sha256:short": invalid checksum digest length`},
		"a manifest that is too large":   {"example:huge", "it is no chart: its manifest has 1048596 bytes"},
		"a manifest that is none": {
			"example:list", "its manifest is malformed: json: cannot unmarshal array into Go value of type v1.Manifest",
		},
		"no tag":                   {"example", "invalid reference: neither a tag nor a digest"},
		"a malformed tag":          {"example:-", `invalid reference: invalid tag "-"`},
		"a malformed repository":   {"Example:good", `invalid reference: invalid repository "Example"`},
		"a malformed digest":       {"example@sha256:1", `invalid reference: invalid digest "sha256:1": invalid checksum digest length`},
		"a digest of another kind": {"example@md5:1", `invalid reference: invalid digest "md5:1": unsupported digest algorithm`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := (&Puller{}).Pull(t.Context(), registry.artifact(test.reference))
			assertProblem(t, err, problem.OCIChartCannotBePulled, "chart "+registry.host()+"/"+test.reference+" cannot be pulled: "+test.message)
		})
	}

	_, err := (&Puller{}).Pull(t.Context(), Artifact{Reference: "oci://registry.example.org/example:good"})
	assertProblem(t, err, problem.OCIChartCannotBePulled,
		`chart oci://registry.example.org/example:good cannot be pulled: invalid reference: invalid repository "/registry.example.org/example"`)
}

func TestPull_DigestMismatch(t *testing.T) {
	for name, isSpoilt := range map[string]func(*http.Request) bool{
		"the manifest": func(request *http.Request) bool { return !isBlob(request) },
		"the chart":    isBlob,
	} {
		t.Run(name, func(t *testing.T) {
			registry := newRegistry(t)
			registry.push(t, "example", "good", []byte("archive"))
			registry.intercept(func(answer http.ResponseWriter, request *http.Request, registry http.Handler) {
				recorder := httptest.NewRecorder()
				registry.ServeHTTP(recorder, request)
				body := recorder.Body.Bytes()
				if isSpoilt(request) {
					body[len(body)-1]++
				}
				maps.Copy(answer.Header(), recorder.Header())
				_, _ = answer.Write(body)
			})
			_, err := (&Puller{}).Pull(t.Context(), registry.artifact("example:good"))
			assertProblem(t, err, problem.OCIChartCannotBePulled,
				"chart "+registry.host()+"/example:good cannot be pulled: what the registry delivers does not match its digest")
		})
	}
}

func basicConfig(host, user, password string) []byte {
	return fmt.Appendf(nil, `{"auths":{%q:{"auth":%q}}}`, host, base64.StdEncoding.EncodeToString([]byte(user+":"+password)))
}

func TestPull_BasicAuth(t *testing.T) {
	registry := newRegistry(t)
	registry.push(t, "example", "good", []byte("archive"))
	registry.requireBasic("robot", "se:cret")
	artifact := registry.artifact("example:good")

	artifact.DockerConfig = basicConfig(registry.host(), "robot", "se:cret")
	assert.Equal(t, "archive", string(mustPull(t, &Puller{}, artifact).Archive))
	artifact.DockerConfig = fmt.Appendf(nil, `{"auths":{%q:{"username":"robot","password":"se:cret"}}}`, "https://"+registry.host()+"/v2/")
	assert.Equal(t, "archive", string(mustPull(t, &Puller{}, artifact).Archive))

	refused := "chart " + registry.host() + "/example:good cannot be pulled: the registry refuses the credentials that the pull secret has for it (401)"
	artifact.DockerConfig = basicConfig(registry.host(), "robot", "wrong")
	_, err := (&Puller{}).Pull(t.Context(), artifact)
	assertProblem(t, err, problem.OCIChartCannotBePulled, refused)

	none := "chart " + registry.host() + "/example:good cannot be pulled: the registry wants credentials, and there are none for it"
	registry.takeRequests()
	for _, config := range [][]byte{nil, []byte(`{}`), basicConfig("other.example.org", "robot", "se:cret")} {
		artifact.DockerConfig = config
		_, err = (&Puller{}).Pull(t.Context(), artifact)
		assertProblem(t, err, problem.OCIChartCannotBePulled, none)
	}
	for _, request := range registry.takeRequests() {
		assert.Empty(t, request.Header.Get("Authorization"), "what is for others is not shown")
	}

	registry.respondWith(http.StatusForbidden, `{"errors":[{"code":"DENIED","message":"not you"}]}`)
	_, err = (&Puller{}).Pull(t.Context(), artifact)
	assertProblem(t, err, problem.OCIChartCannotBePulled, none+" (403)")
}

func TestPull_BearerToken(t *testing.T) {
	registry := newRegistry(t)
	registry.push(t, "charts/example", "good", []byte("archive"))
	artifact := registry.artifact("charts/example:good")

	registry.requireBearer(func(_ http.ResponseWriter, request *http.Request) string {
		_, _, hasBasic := request.BasicAuth()
		assert.False(t, hasBasic)
		assert.Equal(t, "repository:charts/example:pull", request.URL.Query().Get("scope"))
		return "anonymous"
	})
	assert.Equal(t, "archive", string(mustPull(t, &Puller{}, artifact).Archive))
	assert.Equal(t, []string{
		"GET /v2/charts/example/manifests/good", "GET /token", "GET /v2/charts/example/manifests/good",
		"GET /v2/charts/example/blobs/" + content.NewDescriptorFromBytes("", []byte("archive")).Digest.String(),
	}, registry.takeRequestLines(), "one token serves for both")

	artifact.DockerConfig = basicConfig(registry.host(), "robot", "secret")
	grant := func(answer http.ResponseWriter, request *http.Request) string {
		if user, password, _ := request.BasicAuth(); user == "robot" && password == "secret" {
			return "robot's"
		}
		answer.WriteHeader(http.StatusUnauthorized)
		return ""
	}
	registry.requireBearer(grant)
	assert.Equal(t, "archive", string(mustPull(t, &Puller{}, artifact).Archive))
	artifact.DockerConfig = basicConfig(registry.host(), "robot", "wrong")
	_, err := (&Puller{}).Pull(t.Context(), artifact)
	assertProblem(t, err, problem.OCIChartCannotBePulled,
		"chart "+artifact.Reference+" cannot be pulled: the registry refuses the credentials that the pull secret has for it (401)")

	artifact.DockerConfig = fmt.Appendf(nil, `{"auths":{%q:{"identitytoken":"refresh"}}}`, registry.host())
	registry.requireBearer(func(_ http.ResponseWriter, request *http.Request) string {
		assert.Equal(t, "refresh", request.FormValue("refresh_token"))
		return "refreshed"
	})
	assert.Equal(t, "archive", string(mustPull(t, &Puller{}, artifact).Archive))

	for _, status := range []int{http.StatusTooManyRequests, http.StatusServiceUnavailable, http.StatusNotFound} {
		registry.requireBearer(func(answer http.ResponseWriter, _ *http.Request) string {
			answer.WriteHeader(status)
			return ""
		})
		_, err = (&Puller{}).Pull(t.Context(), artifact)
		assert.EqualError(t, err, fmt.Sprintf("pulling chart %s: %s answers %d %s", artifact.Reference, registry.host(), status, http.StatusText(status)))
	}
}

func TestPull_Concurrently(t *testing.T) {
	registry := newRegistry(t)
	registry.push(t, "example", "one", []byte("one"))
	registry.push(t, "example", "two", []byte("two"))
	puller := &Puller{}
	var group sync.WaitGroup
	for i := range 16 {
		group.Go(func() {
			tag := []string{"one", "two"}[i%2]
			found, err := puller.Pull(t.Context(), registry.artifact("example:"+tag))
			if assert.NoError(t, err) {
				assert.Equal(t, tag, string(found.Archive))
			}
		})
	}
	group.Wait()
}
