package e2e

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/Masterminds/semver/v3"
	extensionscontroller "github.com/gardener/gardener/extensions/pkg/controller"
	"github.com/gardener/gardener/extensions/pkg/controller/worker"
	"github.com/gardener/gardener/pkg/api/core/v1beta1/helper"
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/gardener/gardener/pkg/component/extensions/operatingsystemconfig"
	gardenerutils "github.com/gardener/gardener/pkg/utils/gardener"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/trellis-garden/trellis/e2e/internal/controller"
)

// workerGolden reads what the Worker controller's own tests hold it to. The controller is a black box here; what it promises is not.
func workerGolden(t *testing.T, name string, into any) {
	t.Helper()
	_ = os.Getenv(controller.SourcesVariable) // noted by go test, which does not watch the files of other modules
	text, err := os.ReadFile(filepath.Join("..", "internal", "worker", "testdata", name))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, into))
}

// inUTC lets times be decoded in the zone that Gardener's processes run in: its hashes are made of times as they are printed.
func inUTC(t *testing.T) {
	t.Helper()
	local := time.Local
	time.Local = time.UTC
	t.Cleanup(func() { time.Local = local })
}

// Every row of the controller's golden file of hashes is what Gardener's library and gardenlet make of the same pool.
func TestWorkerPoolHash_SameAsGardener(t *testing.T) {
	inUTC(t)
	var rows []struct {
		Sentence                  string
		Pool                      extensionsv1alpha1.WorkerPool
		Credentials               *gardencorev1beta1.ShootCredentials
		HashData, HashDataInPlace []string
		Hash, InPlaceHash         string
	}
	workerGolden(t, "hashes.json", &rows)
	require.Greater(t, len(rows), 100)
	hashes := map[string]bool{}
	for _, row := range rows {
		t.Run(row.Sentence, func(t *testing.T) {
			cluster := &extensionscontroller.Cluster{Shoot: &gardencorev1beta1.Shoot{}}
			cluster.Shoot.Status.Credentials = row.Credentials
			hash, err := worker.WorkerPoolHash(row.Pool, cluster, row.HashData, row.HashDataInPlace)
			require.NoError(t, err)
			assert.Equal(t, hash, row.Hash)
			hash, err = gardenerutils.CalculateWorkerPoolHashForInPlaceUpdate(
				row.Pool.Name, row.Pool.KubernetesVersion, row.Pool.KubeletConfig, row.Pool.MachineImage.Version, row.Credentials)
			require.NoError(t, err)
			assert.Equal(t, hash, row.InPlaceHash)
			hashes[row.Hash], hashes[row.InPlaceHash] = true, true
		})
	}
	assert.Greater(t, len(hashes), 40, "the rows tell inputs apart")
}

func TestZoneDistribution_SameAsGardener(t *testing.T) {
	var golden struct {
		Rows []struct {
			Zones, Minimum, Maximum  int32
			MaxSurge, MaxUnavailable intstr.IntOrString
			Minima, Maxima           []int32
			Surges, Unavailables     []intstr.IntOrString
		}
		PercentGrid map[string]string
	}
	workerGolden(t, "distributions.json", &golden)
	require.Greater(t, len(golden.Rows), 100)
	for _, row := range golden.Rows {
		require.Len(t, row.Minima, int(row.Zones))
		for zone := range row.Zones {
			assert.Equal(t, worker.DistributeOverZones(zone, row.Minimum, row.Zones), row.Minima[zone])
			assert.Equal(t, worker.DistributeOverZones(zone, row.Maximum, row.Zones), row.Maxima[zone])
			assert.Equal(t, worker.DistributePositiveIntOrPercent(zone, row.MaxSurge, row.Zones, row.Maximum), row.Surges[zone])
			assert.Equal(t, worker.DistributePositiveIntOrPercent(zone, row.MaxUnavailable, row.Zones, row.Minimum), row.Unavailables[zone])
		}
	}
	require.Len(t, golden.PercentGrid, 7)
	for zones := int32(1); zones <= 7; zones++ {
		assert.Equal(t, percentGrid(t, zones), golden.PercentGrid[fmt.Sprint(zones)], "%d zones", zones)
	}
}

// percentGrid sums up what every percentage becomes in every zone for every total up to 64.
func percentGrid(t *testing.T, zones int32) string {
	t.Helper()
	sum := sha256.New()
	for total := range int32(65) {
		for percent := range 101 {
			for zone := range zones {
				share := worker.DistributePercentOverZones(zone, fmt.Sprintf("%d%%", percent), zones, total)
				_, err := io.WriteString(sum, fmt.Sprintf("%d %d %d %s\n", total, percent, zone, share))
				require.NoError(t, err)
			}
		}
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// Every row of the controller's golden file of names is what gardenlet makes of the same shoot. The preview of replaced nodes depends on it.
func TestNodeAgentSecretName_SameAsGardener(t *testing.T) {
	inUTC(t)
	var rows []struct {
		Sentence string
		Shoot    *gardencorev1beta1.Shoot
		Name     string
	}
	workerGolden(t, "node-agent-names.json", &rows)
	require.Greater(t, len(rows), 25)
	names := map[string]bool{}
	for _, row := range rows {
		t.Run(row.Sentence, func(t *testing.T) {
			spec, pool := row.Shoot.Spec, &row.Shoot.Spec.Provider.Workers[0]
			version, err := helper.CalculateEffectiveKubernetesVersion(semver.MustParse(spec.Kubernetes.Version), pool.Kubernetes)
			require.NoError(t, err)
			var rotation *gardencorev1beta1.ShootCredentialsRotation
			if row.Shoot.Status.Credentials != nil {
				rotation = row.Shoot.Status.Credentials.Rotation
			}
			assert.Equal(t, operatingsystemconfig.Key(version, rotation, pool, helper.IsNodeLocalDNSEnabled(spec.SystemComponents),
				helper.CalculateEffectiveKubeletConfiguration(spec.Kubernetes.Kubelet, pool.Kubernetes), spec.Kubernetes.KubeProxy), row.Name)
			names[row.Name] = true
		})
	}
	assert.Greater(t, len(names), 15, "the rows tell inputs apart")
}
