package manager

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func gardenBinary() Binary {
	return Binary{
		Name:        "admission",
		Description: "Validates what users write.",
		Types:       []string{"openstack", "registrations"},
		Garden:      true,
		Webhooks:    []string{"shoot.openstack", "extension.registrations"},
	}
}

func TestParseFlags_GardenWithoutControllerFlags(t *testing.T) {
	for _, flag := range []string{
		"extension-classes", "role", "max-concurrent-reconciles", "ignore-operation-annotation", "gardener-version",
		"heartbeat-namespace", "heartbeat-renew-interval-seconds",
	} {
		_, err := parseFlags(gardenBinary(), []string{"--types=openstack", "--" + flag + "=1"}, inPod())
		assert.EqualError(t, err, "wrong command line:\n  --"+flag+": no such flag")
	}
	_, err := parseFlags(testBinary(), []string{"--types=aws", "--garden-kubeconfig=x"}, inPod())
	assert.EqualError(t, err, "wrong command line:\n  --garden-kubeconfig: no such flag", "a controller has no garden")
}

func TestParseFlags_Garden(t *testing.T) {
	inGarden := inPod()
	inGarden.gardenKubeconfig = "/etc/garden/kubeconfig"
	const owned = "--webhook-config-owner-namespace=garden"
	tests := map[string]struct {
		args   []string
		around environment
		// kubeconfig, mode and owner are of the garden, runtimeMode is of the other cluster.
		kubeconfig               string
		mode, runtimeMode, owner string
	}{
		"without a kubeconfig, the garden is the runtime cluster": {
			around: inPod(), mode: "service", runtimeMode: "service", owner: "extension-infrastructure",
		},
		"a garden of its own is named by a flag": {
			args: []string{"--garden-kubeconfig=k", owned}, around: inPod(),
			kubeconfig: "k", mode: "url-service", runtimeMode: "service", owner: "garden",
		},
		"a garden of its own is named by the environment": {
			args: []string{owned}, around: inGarden,
			kubeconfig: "/etc/garden/kubeconfig", mode: "url-service", runtimeMode: "service", owner: "garden",
		},
		"the flag has the last word": {
			args: []string{"--garden-kubeconfig="}, around: inGarden, mode: "service", runtimeMode: "service", owner: "extension-infrastructure",
		},
		"a garden may have a Service of its own": {
			args: []string{"--webhook-config-mode=service", owned}, around: inGarden,
			kubeconfig: "/etc/garden/kubeconfig", mode: "service", runtimeMode: "service", owner: "garden",
		},
		"a URL is one for both": {
			args: []string{"--webhook-config-mode=url", "--webhook-config-url=example.org", owned}, around: inGarden,
			kubeconfig: "/etc/garden/kubeconfig", mode: "url", runtimeMode: "url", owner: "garden",
		},
	}
	for sentence, test := range tests {
		t.Run(sentence, func(t *testing.T) {
			cfg, err := parseFlags(gardenBinary(), append([]string{"--types=openstack"}, test.args...), test.around)
			require.NoError(t, err)
			assert.Equal(t, test.kubeconfig, cfg.gardenKubeconfig)
			assert.Equal(t, test.kubeconfig != "", cfg.webhooks.SeparateGarden)
			assert.Equal(t, test.mode, cfg.webhooks.Mode)
			assert.Equal(t, test.owner, cfg.webhooks.OwnerNamespace)
			runtime := cfg.webhooks.ForRuntimeCluster()
			assert.Equal(t, test.runtimeMode, runtime.Mode)
			assert.Equal(t, "extension-infrastructure", runtime.OwnerNamespace)
			assert.Empty(t, cfg.classes)
			assert.Empty(t, cfg.heartbeatNamespace)
			assert.True(t, cfg.leaderElection)
		})
	}

	t.Run("nobody guesses who owns what is registered in a garden of its own", func(t *testing.T) {
		_, err := parseFlags(gardenBinary(), []string{"--types=openstack"}, inGarden)
		assert.EqualError(t, err, "wrong command line:\n  --webhook-config-owner-namespace: required with a kubeconfig of the garden"+
			", where no namespace is known; or --disable-webhooks=*")
	})
	t.Run("where nothing is registered, nobody owns it", func(t *testing.T) {
		_, err := parseFlags(gardenBinary(), []string{"--types=openstack", "--disable-webhooks=*"}, inGarden)
		assert.NoError(t, err)
	})
	t.Run("controllers know of no garden, whatever surrounds them", func(t *testing.T) {
		cfg, err := parseFlags(webhookBinary(), []string{"--types=aws"}, inGarden)
		require.NoError(t, err)
		assert.False(t, cfg.webhooks.SeparateGarden)
		assert.Equal(t, "service", cfg.webhooks.Mode)
	})
}

// writeGardenKubeconfig writes a kubeconfig as gardener-operator gives one to a pod: the token is in a file and renewed there.
func writeGardenKubeconfig(t *testing.T, server string) (kubeconfig, token string) {
	t.Helper()
	folder := t.TempDir()
	kubeconfig, token = filepath.Join(folder, "kubeconfig"), filepath.Join(folder, "token")
	require.NoError(t, os.WriteFile(token, []byte("first"), 0o600))
	require.NoError(t, os.WriteFile(kubeconfig, fmt.Appendf(nil, `apiVersion: v1
kind: Config
clusters: [{name: garden, cluster: {server: "%s"}}]
users: [{name: admission, user: {tokenFile: "%s"}}]
contexts: [{name: garden, context: {cluster: garden, user: admission}}]
current-context: garden
`, server, token), 0o600))
	return kubeconfig, token
}

func TestLoadRESTConfig_TokenFile(t *testing.T) {
	kubeconfig, token := writeGardenKubeconfig(t, "https://garden.example.org")
	config, err := loadRESTConfig(kubeconfig)
	require.NoError(t, err)
	assert.Equal(t, token, config.BearerTokenFile)
}

func testGarden(t *testing.T, kubeconfig string) {
	t.Helper()
	unreachable, _ := writeGardenKubeconfig(t, "http://"+freeAddress(t))
	// run returns what Setup is given, and what is logged.
	run := func(t *testing.T, args ...string) (*Process, string) {
		t.Helper()
		var got *Process
		binary := gardenBinary()
		binary.AddToScheme = addNothing
		binary.Setup = func(p *Process) error {
			got = p
			return io.EOF
		}
		var logs bytes.Buffer
		code := binary.run(t.Context(), append([]string{
			"--types=openstack", "--kubeconfig=" + kubeconfig, "--leader-election=false", "--health-bind-address=0", "--metrics-bind-address=0",
			"--webhook-config-namespace=default", "--webhook-config-owner-namespace=garden",
		}, args...), environment{}, io.Discard, &logs)
		assert.Equal(t, exitFailure, code)
		return got, logs.String()
	}
	key := client.ObjectKey{Namespace: "default", Name: "x"}

	t.Run("a garden that is away keeps nobody from starting", func(t *testing.T) {
		p, logs := run(t, "--garden-kubeconfig="+unreachable)
		require.NotNil(t, p, "logs:\n%s", logs)
		assert.True(t, p.Webhooks.SeparateGarden)
		err := p.Garden.Get(t.Context(), key, &corev1.Secret{})
		require.Error(t, err)
		assert.False(t, apierrors.IsNotFound(err), "nobody knows: %v", err)
		assert.True(t, apierrors.IsNotFound(p.Manager.GetClient().Get(t.Context(), key, &corev1.Secret{})), "the runtime cluster is there")
		assert.Empty(t, p.Classes)
		assert.NotContains(t, logs, "heartbeat")
	})
	t.Run("without a kubeconfig, the garden is the runtime cluster", func(t *testing.T) {
		p, logs := run(t)
		require.NotNil(t, p, "logs:\n%s", logs)
		assert.Equal(t, p.Manager.GetClient(), p.Garden)
	})
	t.Run("one cluster under two names is refused", func(t *testing.T) {
		p, logs := run(t, "--garden-kubeconfig="+kubeconfig)
		assert.Nil(t, p)
		assert.Contains(t, logs, "--garden-kubeconfig names the API server that --kubeconfig names")
	})
	t.Run("a kubeconfig that is missing is an error", func(t *testing.T) {
		p, logs := run(t, "--garden-kubeconfig="+strings.TrimSuffix(kubeconfig, "config"))
		assert.Nil(t, p)
		assert.Contains(t, logs, "loading kubeconfig")
	})
}
