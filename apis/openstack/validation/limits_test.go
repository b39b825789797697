package validation_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/apis/openstack/validation"
)

func TestValidate_ExpressionSize(t *testing.T) {
	const repeats, long = "repeats too much: shorten the repetitions", "Too long"
	for pattern, want := range map[string]string{
		`~public-[0-9]{4}`:                                   "",
		`~[a-z]{1,255}`:                                      "",
		`~\pL{255}`:                                          "",
		`~.{1000}.{1000}.{1000}.{1000}.{998}`:                "",
		strings.Repeat("a", 255):                             "",
		`~` + strings.Repeat("[^a]{1000}", 6):                repeats,
		`!~((.{10}){10}){10}` + strings.Repeat(".{1000}", 5): repeats,
		`~(`:                                     "correct the regular expression",
		`~.{1001}`:                               "correct the regular expression",
		`~` + strings.Repeat("[^a]{1000}", 3000): long,
	} {
		t.Run(pattern[:min(len(pattern), 30)], func(t *testing.T) {
			class := v1alpha1.LoadBalancerClass{Name: "a", FloatingSubnetName: new(pattern)}
			config := &v1alpha1.ControlPlaneConfig{LoadBalancerProvider: "amphora", LoadBalancerClasses: []v1alpha1.LoadBalancerClass{class}}
			errs := validation.ValidateControlPlaneConfig(config, nil, validation.ControlPlaneValidationContext{}, field.NewPath("c"))
			if want == "" {
				require.Empty(t, errs)
				return
			}
			require.Len(t, errs, 1)
			assert.Equal(t, "c.loadBalancerClasses[0].floatingSubnetName", errs[0].Field)
			assert.Contains(t, errs[0].Error(), want)
		})
	}
}

func TestValidate_NameLength(t *testing.T) {
	long := strings.Repeat("a", 1000)
	config := &v1alpha1.ControlPlaneConfig{
		LoadBalancerProvider: "amphora", CloudControllerManager: &v1alpha1.CloudControllerManagerConfig{FeatureGates: map[string]bool{long: true}},
	}
	errs := validation.ValidateControlPlaneConfig(config, nil, validation.ControlPlaneValidationContext{}, field.NewPath("c"))
	require.Len(t, errs, 1)
	assert.Contains(t, errs[0].Error(), "Too long: may not be more than 255")

	pool := validation.WorkerPool{Zones: []string{"a"}, ProviderConfig: workerConfig(`"nodeTemplate":{"capacity":{"` + long + `":"1"}}`)}
	errs = validation.ValidateWorkerPool(&pool, nil, nil, poolPath())
	require.Len(t, errs, 1)
	assert.Contains(t, errs[0].Error(), "Too long: may not be more than 317")
}

func TestValidate_ImplausibleQuantities(t *testing.T) {
	for _, field := range []string{"capacity", "virtualCapacity"} {
		for _, amount := range []string{`"1e2147483647"`, `"1e-2147483640"`, `1e2147483647`} {
			t.Run(field+" "+amount, func(t *testing.T) {
				pool := validation.WorkerPool{Zones: []string{"a"}, ProviderConfig: workerConfig(`"nodeTemplate":{"` + field + `":{"example.org/things":` + amount + `}}`)}
				errs := validation.ValidateWorkerPool(&pool, nil, nil, poolPath())
				require.Len(t, errs, 1)
				assert.Contains(t, errs[0].Error(), "there is nothing of which anybody has")
			})
		}
	}
	pool := validation.WorkerPool{Zones: []string{"a"}, Volume: &validation.Volume{Size: "1e-2147483640"}}
	assert.Len(t, validation.ValidateWorkerPool(&pool, nil, nil, poolPath()), 1)
}

func workerConfig(fields string) *runtime.RawExtension {
	return &runtime.RawExtension{Raw: []byte(`{"apiVersion":"openstack.provider.extensions.gardener.cloud/v1alpha1","kind":"WorkerConfig",` + fields + `}`)}
}

// TestValidate_LongLists has lists for which the square of their length would take minutes.
func TestValidate_LongLists(t *testing.T) {
	const length = 100_000
	empty, names := make([]string, length), make([]string, length)
	classes, networks, labels := make([]v1alpha1.LoadBalancerClass, length), make([]v1alpha1.AdditionalNetwork, length), make([]v1alpha1.MachineLabel, length)
	for i := range names {
		names[i] = fmt.Sprintf("name-%d", i)
		classes[i].Name, networks[i].Name, labels[i].Name = names[i], names[i], names[i]
	}
	pool, oldPool := &v1alpha1.WorkerConfig{AdditionalSecurityGroups: names, AdditionalNetworks: networks, MachineLabels: labels}, &v1alpha1.WorkerConfig{MachineLabels: labels}
	assert.Empty(t, validation.ValidateWorkerConfig(pool, oldPool, validation.PoolValidationContext{}, poolPath()))
	pool = &v1alpha1.WorkerConfig{AdditionalSecurityGroups: empty}
	assert.Len(t, validation.ValidateWorkerConfig(pool, nil, validation.PoolValidationContext{}, poolPath()), 2*length-1)

	config := &v1alpha1.ControlPlaneConfig{
		LoadBalancerProvider: "amphora", LoadBalancerClasses: classes,
		NodeAddresses: &v1alpha1.NodeAddresses{PublicNetworkNames: names, InternalNetworkNames: names},
	}
	old := &v1alpha1.ControlPlaneConfig{LoadBalancerClasses: classes[1:]}
	assert.Len(t, validation.ValidateControlPlaneConfig(config, old, validation.ControlPlaneValidationContext{}, field.NewPath("c")), length)
}
