package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/Masterminds/semver/v3"
	extensionscontroller "github.com/gardener/gardener/extensions/pkg/controller"
	"github.com/gardener/gardener/extensions/pkg/controller/worker"
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	versionutils "github.com/gardener/gardener/pkg/utils/version"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/trellis-garden/trellis/e2e/internal/controller"
)

// Every row of the driver's golden file of hashes is what the upstream extension gives to Gardener's function, in its order. The order is written down here once
// more, over the documents, and not over our types.
func TestAWSWorkerPoolHash_SameAsUpstream(t *testing.T) {
	_ = os.Getenv(controller.SourcesVariable) // noted by go test, which does not watch the files of other modules
	text, err := os.ReadFile(filepath.Join("..", "internal", "worker", "aws", "testdata", "hashes.json"))
	require.NoError(t, err)
	var rows []struct {
		Sentence                          string
		Pool                              extensionsv1alpha1.WorkerPool
		HashData, HashDataInPlace, Sorted []string
	}
	require.NoError(t, json.Unmarshal(text, &rows))
	require.GreaterOrEqual(t, len(rows), 100)
	hashes := map[string]bool{}
	hashOf := func(pool extensionsv1alpha1.WorkerPool, data, inPlace []string) string {
		cluster := &extensionscontroller.Cluster{Shoot: &gardencorev1beta1.Shoot{}}
		hash, err := worker.WorkerPoolHash(pool, cluster, data, inPlace)
		require.NoError(t, err)
		return hash
	}
	for _, row := range rows {
		t.Run(row.Sentence, func(t *testing.T) {
			want, inPlace := upstreamAWSHashData(t, row.Pool), upstreamEncrypted(row.Pool.Volume)
			assert.Equal(t, want, row.HashData)
			assert.Equal(t, hashOf(row.Pool, want, inPlace), hashOf(row.Pool, row.HashData, row.HashDataInPlace))
			hashes[hashOf(row.Pool, want, inPlace)] = true

			// What upstream does to the object after it has computed the hash.
			slices.SortFunc(row.Pool.DataVolumes, func(a, b extensionsv1alpha1.DataVolume) int { return strings.Compare(a.Name, b.Name) })
			if second := upstreamAWSHashData(t, row.Pool); !slices.Equal(second, want) {
				assert.Equal(t, second, row.Sorted)
			} else {
				assert.Empty(t, row.Sorted)
			}
		})
	}
	assert.Greater(t, len(hashes), 70, "the rows tell inputs apart")
}

// compacted undoes the formatting of the golden file.
func compacted(t *testing.T, raw []byte) []byte {
	t.Helper()
	if len(raw) == 0 {
		return raw
	}
	var text bytes.Buffer
	require.NoError(t, json.Compact(&text, raw))
	return text.Bytes()
}

func upstreamEncrypted(volume *extensionsv1alpha1.Volume) []string {
	if volume == nil || volume.Encrypted == nil {
		return nil
	}
	return []string{fmt.Sprint(*volume.Encrypted)}
}

// upstreamAWSHashData are the additional data of a pool in the upstream extension v1.73.
func upstreamAWSHashData(t *testing.T, pool extensionsv1alpha1.WorkerPool) []string {
	t.Helper()
	data := upstreamEncrypted(pool.Volume)
	for _, volume := range pool.DataVolumes {
		data = append(data, volume.Size)
		if volume.Type != nil {
			data = append(data, *volume.Type)
		}
		if volume.Encrypted != nil {
			data = append(data, fmt.Sprint(*volume.Encrypted))
		}
	}
	var raw []byte
	if pool.ProviderConfig != nil {
		raw = compacted(t, pool.ProviderConfig.Raw)
	}
	config := map[string]any{}
	if len(raw) > 0 {
		require.NoError(t, json.Unmarshal(raw, &config))
	}
	if versionutils.ConstraintK8sGreaterEqual134.Check(semver.MustParse(*pool.KubernetesVersion)) {
		return append(data, upstreamFields(t, config)...)
	}
	if template, _ := config["nodeTemplate"].(map[string]any); template["virtualCapacity"] != nil {
		if _, hasCapacity := template["capacity"]; !hasCapacity {
			return append(data, regexp.MustCompile(`"nodeTemplate":\{"virtualCapacity":\{.*?\}\},|,"nodeTemplate":\{"virtualCapacity":\{.*?\}\}`).ReplaceAllString(string(raw), ""))
		}
		return append(data, regexp.MustCompile(`,"virtualCapacity":\{.*?\}`).ReplaceAllString(string(raw), ""))
	}
	if raw == nil {
		return data
	}
	return append(data, string(raw))
}

// upstreamFields are the values at paths of the document, in this order. A path with [] is that of a list, whose elements have the fields behind it.
func upstreamFields(t *testing.T, config map[string]any) []string {
	t.Helper()
	var values []string
	template, _ := config["nodeTemplate"].(map[string]any)
	capacity, _ := template["capacity"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(capacity)) {
		amount := resource.MustParse(fmt.Sprint(capacity[name]))
		values = append(values, fmt.Sprintf("%s=%d", name, amount.Value()))
	}
	for _, path := range []string{
		"volume.iops", "volume.throughput", "dataVolumes[].name iops throughput snapshotID",
		"iamInstanceProfile.name", "iamInstanceProfile.arn",
		"instanceMetadataOptions.httpTokens", "instanceMetadataOptions.httpPutResponseHopLimit",
		"cpuOptions.coreCount", "cpuOptions.threadsPerCore",
		"capacityReservation.capacityReservationPreference", "capacityReservation.capacityReservationId", "capacityReservation.capacityReservationResourceGroupArn",
		"instanceMarketOptions.marketType",
		"networkInterfaces[].type=interface deviceIndex networkCardIndex networkCardIndexRange.from networkCardIndexRange.to subnetID",
		"placement.groupId", "placement.tenancy", "placement.hostId", "placement.partitionNumber", "placement.affinity",
	} {
		list, fields, isList := strings.Cut(path, "[].")
		if !isList {
			values = append(values, valueAt(config, path)...)
			continue
		}
		elements, _ := config[list].([]any)
		for _, element := range elements {
			for field := range strings.FieldsSeq(fields) {
				object, isObject := element.(map[string]any)
				require.True(t, isObject)
				values = append(values, valueAt(object, field)...)
			}
		}
	}
	return values
}

// valueAt is the value at a path, possibly with a default, or none.
func valueAt(object map[string]any, path string) []string {
	path, fallback, hasFallback := strings.Cut(path, "=")
	var value any = object
	for field := range strings.SplitSeq(path, ".") {
		inner, _ := value.(map[string]any)
		value = inner[field]
	}
	switch {
	case value != nil:
		return []string{fmt.Sprint(value)}
	case hasFallback:
		return []string{fallback}
	default:
		return nil
	}
}
