//go:build kind

package release

import (
	"cmp"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	gardencorev1 "github.com/gardener/gardener/pkg/apis/core/v1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/e2e/internal/kindseed"
	"github.com/trellis-garden/trellis/e2e/internal/nodeimage"
	"github.com/trellis-garden/trellis/e2e/internal/repo"
)

const version = "v0.1.0-e2e"

// TestRelease installs all controllers from a release, in the form that gardenlet pulls charts for.
func TestRelease(t *testing.T) {
	seed := newSeed(t)
	registry := startRegistry(t, seed.Gateway)
	require.NoError(t, seed.UseRegistry(registry.address))
	out := makeRelease(t, registry.address+"/trellis")
	registry.forgetRequests()
	require.NoError(t, seed.InstallFolder(t.Context(), filepath.Join(out, "registrations"), "oci"))

	images, charts := readDigests(t, out, "digests.txt"), readDigests(t, out, "chart-digests.txt")
	entries, err := kindseed.Registrations()
	require.NoError(t, err)
	require.NotEmpty(t, entries)
	for binary, entry := range entries {
		t.Run(binary, func(t *testing.T) {
			deployment := &gardencorev1.ControllerDeployment{}
			require.NoError(t, seed.Garden.Client.Get(t.Context(), client.ObjectKey{Name: entry.Name}, deployment))
			require.NotNil(t, deployment.Helm.OCIRepository)
			require.NotNil(t, deployment.Helm.OCIRepository.Digest)
			assert.Equal(t, charts[entry.Chart], *deployment.Helm.OCIRepository.Digest)
			assert.True(t, registry.wasPulled("trellis/charts/"+entry.Chart, charts[entry.Chart]), "the chart was pulled by its digest")

			pods, err := seed.ReadyPods(t.Context(), binary)
			require.NoError(t, err)
			require.NotEmpty(t, pods)
			for _, pod := range pods {
				require.Len(t, pod.Spec.Containers, 1)
				assert.Equal(t, registry.address+"/trellis/"+binary+":"+version+"@"+images[binary], pod.Spec.Containers[0].Image)
				require.Len(t, pod.Status.ContainerStatuses, 1)
				assert.Contains(t, pod.Status.ContainerStatuses[0].ImageID, "@"+images[binary], "the image that runs")
			}
			assert.True(t, registry.wasPulled("trellis/"+binary, images[binary]), "the image was pulled by its digest")
		})
	}
}

func newSeed(t *testing.T) *kindseed.Env {
	t.Helper()
	image, err := nodeimage.Ensure(t.Context(), os.Stderr)
	require.NoError(t, err)
	seed, err := kindseed.Start(t.Context(), kindseed.Options{
		Dir: t.TempDir(), NodeImage: image, Progress: os.Stderr, Cluster: cmp.Or(os.Getenv("TRELLIS_KIND_CLUSTER"), "trellis-release"),
	})
	require.NoError(t, err)
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(seed.Report(context.Background(), 30))
		}
		assert.NoError(t, seed.Stop())
	})
	return seed
}

// makeRelease makes a release for the platform of this machine, and returns the folder with its files. The checkout may have changes.
func makeRelease(t *testing.T, repository string) string {
	t.Helper()
	root, err := repo.Root()
	require.NoError(t, err)
	out := filepath.Join(t.TempDir(), "release")
	command := exec.CommandContext(t.Context(), "make", "release", "VERSION="+version, "PUSH="+repository, "SIGN_KEY="+writeKey(t), "OUT="+out,
		"PLATFORM=linux/"+runtime.GOARCH, "SNAPSHOT=1")
	command.Dir = root
	output, err := command.CombinedOutput()
	require.NoError(t, err, string(output))
	return out
}

func writeKey(t *testing.T) string {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	der, err := x509.MarshalPKCS8PrivateKey(private)
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "signing.key")
	require.NoError(t, os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), 0o600))
	return path
}

// readDigests reads a list of a release: by the name of a binary or a chart.
func readDigests(t *testing.T, out, list string) map[string]string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(out, list))
	require.NoError(t, err)
	digests := map[string]string{}
	for line := range strings.FieldsSeq(string(content)) {
		tagged, digest, found := strings.Cut(line, "@")
		require.True(t, found, line)
		name, _, _ := strings.Cut(tagged[strings.LastIndex(tagged, "/")+1:], ":")
		digests[name] = digest
	}
	return digests
}
