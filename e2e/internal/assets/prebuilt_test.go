package assets

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha512"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestDownload(t *testing.T) {
	archive := archiveOf(t, "etcd", "kube-apiserver", "kubectl")
	sum := sha512.Sum512(archive)
	others := []build{{name: "etcd"}, {name: "gardener-resource-manager"}, {name: "kube-apiserver"}}
	tests := map[string]struct {
		missing []build
		change  func(*prebuilt)
		want    []string
		output  string
	}{
		"downloads both programs, and leaves the others": {
			missing: others, want: []string{"gardener-resource-manager"}, output: "  etcd and kube-apiserver: ",
		},
		"downloads both if one is missing": {missing: []build{{name: "kube-apiserver"}}, output: "  etcd and kube-apiserver: "},
		"downloads nothing if neither is missing": {
			missing: []build{{name: "kubectl"}}, want: []string{"kubectl"},
		},
		"builds all if the archive has another sum": {
			missing: others, change: func(p *prebuilt) { p.sums[platform()] = hex.EncodeToString(make([]byte, sha512.Size)) },
			want: []string{"etcd", "gardener-resource-manager", "kube-apiserver"}, output: "so they are built from source: ",
		},
		"builds all if the index cannot be reached": {
			missing: others, change: func(p *prebuilt) { p.index = "http://127.0.0.1:1/index.yaml" },
			want: []string{"etcd", "gardener-resource-manager", "kube-apiserver"}, output: "connection refused",
		},
		"builds all if downloads are disabled": {
			missing: others, change: func(p *prebuilt) { p.index = downloadsOff },
			want: []string{"etcd", "gardener-resource-manager", "kube-apiserver"},
		},
		"builds all if there is no archive for the platform": {
			missing: others, change: func(p *prebuilt) { p.sums = nil },
			want: []string{"etcd", "gardener-resource-manager", "kube-apiserver"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			from := pinnedPrebuilt()
			from.index = serveIndex(t, from, archive)
			from.sums = map[string]string{platform(): hex.EncodeToString(sum[:])}
			if test.change != nil {
				test.change(&from)
			}
			dir := t.TempDir()
			var output recorder

			var left []string
			for _, b := range download(t.Context(), &output, from, dir, append([]build{}, test.missing...)) {
				left = append(left, b.name)
			}

			assert.Equal(t, test.want, left)
			assert.Contains(t, string(output), test.output)
			if test.output == "" {
				assert.Empty(t, output)
			}
			entries, err := os.ReadDir(dir)
			require.NoError(t, err)
			if len(left) == len(test.missing) {
				assert.Empty(t, entries, "nothing incomplete is left")
				return
			}
			for _, program := range APIServer() {
				content, err := os.ReadFile(filepath.Join(dir, program))
				require.NoError(t, err)
				assert.Equal(t, "content of "+program, string(content))
				stamp, err := os.ReadFile(filepath.Join(dir, "."+program+".stamp"))
				require.NoError(t, err)
				assert.Equal(t, from.stamp(), string(stamp))
			}
			assert.Len(t, entries, 2*len(APIServer()))
		})
	}
}

func TestEnsure_PrebuiltIsUpToDate(t *testing.T) {
	dir := t.TempDir()
	t.Setenv(DirVariable, dir)
	t.Setenv(IndexVariable, "http://127.0.0.1:1/index.yaml")
	for _, name := range APIServer() {
		b := build{name: name, dir: dir}
		require.NoError(t, os.WriteFile(b.target(), nil, 0o755))
		require.NoError(t, os.WriteFile(b.stampFile(), []byte(pinnedPrebuilt().stamp()), 0o644))
	}
	if pinnedPrebuilt().stamp() == "" {
		t.Skip("controller-tools releases nothing for this platform")
	}
	var output recorder
	_, err := Ensure(t.Context(), &output, APIServer()...)
	require.NoError(t, err)
	assert.Empty(t, output)
	version, err := Version("kube-apiserver")
	require.NoError(t, err)
	assert.Equal(t, "envtest-v1.36.2", version)
}

func platform() string { return runtime.GOOS + "/" + runtime.GOARCH }

func archiveOf(t *testing.T, programs ...string) []byte {
	var buffer bytes.Buffer
	compressed := gzip.NewWriter(&buffer)
	archive := tar.NewWriter(compressed)
	for _, program := range programs {
		content := "content of " + program
		require.NoError(t, archive.WriteHeader(&tar.Header{Name: "controller-tools/envtest/" + program, Mode: 0o755, Size: int64(len(content)), Typeflag: tar.TypeReg}))
		_, err := archive.Write([]byte(content))
		require.NoError(t, err)
	}
	require.NoError(t, archive.Close())
	require.NoError(t, compressed.Close())
	return buffer.Bytes()
}

// serveIndex serves an index with one archive, and returns its URL.
func serveIndex(t *testing.T, of prebuilt, archive []byte) string {
	mux := http.NewServeMux()
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	name := fmt.Sprintf("envtest-v%s-%s-%s.tar.gz", of.version, runtime.GOOS, runtime.GOARCH)
	mux.HandleFunc("/index.yaml", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprintf(w, "releases:\n  v%s:\n    %s:\n      hash: of-no-interest\n      selfLink: %s/%s\n", of.version, name, server.URL, name)
	})
	mux.HandleFunc("/"+name, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(archive) })
	return server.URL + "/index.yaml"
}
