package e2e

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/cloud-provider-openstack/pkg/client"
	cinder "k8s.io/cloud-provider-openstack/pkg/csi/cinder/openstack"
	manila "k8s.io/cloud-provider-openstack/pkg/csi/manila/options"
	"k8s.io/cloud-provider-openstack/pkg/openstack"

	"github.com/trellis-garden/trellis/e2e/internal/controller"
)

// cloudConfigs is the folder of the golden configurations of OpenStack's components, each with a file of its expected meaning.
const cloudConfigs = "../internal/controlplane/openstack/testdata/cloudconfig"

// expectedConfig is the expected meaning of a golden configuration.
type expectedConfig struct {
	// Config are the fields of the reader's own structure that differ from its defaults.
	Config json.RawMessage `json:"config"`
	// Login is the request to Keystone; empty for components that do not log in.
	Login json.RawMessage `json:"login"`
}

// TestCloudConfig_CloudControllerManager reads all golden cloud.conf files with the code of the cloud-controller-manager, and logs in with it.
func TestCloudConfig_CloudControllerManager(t *testing.T) {
	forEachGoldenFile(t, "ccm", ".conf", func(t *testing.T, file []byte, means expectedConfig) {
		got, err := openstack.ReadConfig(bytes.NewReader(file))
		require.NoError(t, err)
		want, err := openstack.ReadConfig(strings.NewReader("")) // the defaults
		require.NoError(t, err)
		overlay(t, means.Config, &want)
		require.Equal(t, want, got)
		requireLogin(t, means.Login, &got.Global)
	})
}

// TestCloudConfig_Cinder does the same for both programs of the Cinder driver.
func TestCloudConfig_Cinder(t *testing.T) {
	for _, half := range []string{"cinder", "node"} {
		forEachGoldenFile(t, half, ".conf", func(t *testing.T, file []byte, means expectedConfig) {
			path := filepath.Join(t.TempDir(), "cloudprovider.conf")
			require.NoError(t, os.WriteFile(path, file, 0o600))
			got, err := cinder.GetConfigFromFiles([]string{path})
			require.NoError(t, err)
			var want cinder.Config
			overlay(t, means.Config, &want)
			require.Equal(t, want, got)
			if half == "node" {
				require.Empty(t, got.Global, "a node has no credentials")
				return
			}
			require.Contains(t, got.Global, "", "the cloud that the driver looks for when nobody names one")
			requireLogin(t, means.Login, got.Global[""])
		})
	}
}

// TestCloudConfig_ManilaSecret reads all golden Secrets as the Manila driver reads the Secrets in its requests.
func TestCloudConfig_ManilaSecret(t *testing.T) {
	forEachGoldenFile(t, "manila", ".secret.json", func(t *testing.T, file []byte, means expectedConfig) {
		var secret map[string]string
		overlay(t, file, &secret)
		got, err := manila.NewOpenstackOptions(secret)
		require.NoError(t, err)
		want := &client.AuthOpts{}
		overlay(t, means.Config, want)
		require.Equal(t, want, got)
		got.CAFileContents = "" // a placeholder that is no certificate
		requireLogin(t, means.Login, got)
	})
}

// forEachGoldenFile runs a subtest for each golden file of a component.
func forEachGoldenFile(t *testing.T, component, extension string, check func(*testing.T, []byte, expectedConfig)) {
	t.Helper()
	_ = os.Getenv(controller.SourcesVariable) // noted by go test, which does not watch the files of other modules
	files, err := filepath.Glob(filepath.Join(cloudConfigs, component, "*"+extension))
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(files), 3)
	for _, name := range files {
		name = strings.TrimSuffix(name, extension)
		t.Run(component+"/"+filepath.Base(name), func(t *testing.T) {
			file, err := os.ReadFile(name + extension)
			require.NoError(t, err)
			expected, err := os.ReadFile(name + ".json")
			require.NoError(t, err)
			var means expectedConfig
			overlay(t, expected, &means)
			check(t, file, means)
		})
	}
}

// overlay merges a document into expected values. Unknown fields are an error.
func overlay(t *testing.T, data []byte, into any) {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	require.NoError(t, decoder.Decode(into))
}

// requireLogin logs in with the client that all components share, and checks the request.
func requireLogin(t *testing.T, want json.RawMessage, options *client.AuthOpts) {
	t.Helper()
	if want == nil {
		require.Empty(t, options.AuthURL, "a configuration that logs in, of which nobody says how")
		return
	}
	keystone := &loginRecorder{}
	server := httptest.NewServer(keystone)
	defer server.Close()

	reached := *options
	reached.AuthURL, reached.CAFile = server.URL+"/v3", ""
	_, err := client.NewOpenStackClient(&reached, "test")
	require.NoError(t, err)
	keystone.mu.Lock()
	defer keystone.mu.Unlock()
	require.Len(t, keystone.logins, 1)
	assert.JSONEq(t, string(want), keystone.logins[0])
}

// loginRecorder is a Keystone that accepts all logins and records the requests.
type loginRecorder struct {
	mu     sync.Mutex
	logins []string
}

// ServeHTTP implements http.Handler.
func (k *loginRecorder) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost || r.URL.Path != "/v3/auth/tokens" {
		http.NotFound(w, r)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	k.mu.Lock()
	k.logins = append(k.logins, string(body))
	k.mu.Unlock()
	w.Header().Set("X-Subject-Token", "token")
	w.WriteHeader(http.StatusCreated)
	_, _ = io.WriteString(w, `{"token":{"expires_at":"2999-01-01T00:00:00.000000Z","catalog":[]}}`)
}
